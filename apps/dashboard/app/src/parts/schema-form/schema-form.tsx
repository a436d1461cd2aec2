import { translated } from '@svc/chat-ui/language/language.ts';
import { t } from '@svc/chat-ui/language/t.ts';
import type { ConfigSchema } from '@svc/contract/connector-meta.ts';
import { Field } from '../field.tsx';
import { type Control, controlOf, type Draft, type Property } from './read-draft.ts';

type Props = {
  schema: ConfigSchema;
  draft: Draft;
  faults: Readonly<Record<string, string>>;
  /** Fields whose value is a secret: it is stored with the secrets, and not shown again. */
  secrets?: readonly string[];
  /** The form is short, so no field is folded away. */
  isShort?: boolean;
  onChange(draft: Draft): void;
};

/** The fields of a schema, the required ones first; the others are folded away. Only our own schemas are translated, not those of connectors. */
export function SchemaForm({ schema, draft, faults, secrets = [], isShort = false, onChange }: Props) {
  const entries = Object.entries(schema.properties);
  const isMain = (name: string) => isShort || schema.required?.includes(name) === true || faults[name] !== undefined;
  const field = ([name, property]: [string, Property]) => (
    <SchemaField
      key={name}
      property={property}
      value={draft[name] ?? ''}
      fault={faults[name] ?? null}
      isSecret={secrets.includes(name)}
      onChange={(value) => onChange({ ...draft, [name]: value })}
    />
  );
  const more = entries.filter(([name]) => !isMain(name));
  return (
    <>
      {entries.filter(([name]) => isMain(name)).map(field)}
      {more.length > 0 && (
        <details className="more-fields">
          <summary>{t('More settings')}</summary>
          <div className="stack">{more.map(field)}</div>
        </details>
      )}
    </>
  );
}

type FieldProps = {
  property: Property;
  value: string | boolean;
  fault: string | null;
  isSecret: boolean;
  onChange(value: string | boolean): void;
};

/** Hints for controls of several lines. */
const shapes: Partial<Record<Control, string>> = { lines: t('One per line.'), pairs: t('NAME=value, one per line.') };

function SchemaField({ property, value, fault, isSecret, onChange }: FieldProps) {
  const control = controlOf(property);
  const text = typeof value === 'string' ? value : '';
  const standing =
    property.default === undefined || isSecret ? '' : t('Unless set: {value}', { value: JSON.stringify(property.default) });
  const description = property['description'];
  const hint = [typeof description === 'string' ? translated(description) : '', shapes[control] ?? '', standing]
    .filter((words) => words !== '')
    .join(' ');
  return (
    <Field label={translated(property.title)} {...(hint !== '' && { hint })} fault={fault}>
      {(common) => {
        if (isSecret)
          return (
            <input
              {...common}
              type="password"
              autoComplete="new-password"
              value={text}
              onChange={({ target }) => onChange(target.value)}
            />
          );
        if (control === 'switch')
          return (
            <input {...common} type="checkbox" checked={value === true} onChange={({ target }) => onChange(target.checked)} />
          );
        if (control === 'choice')
          return (
            <select {...common} value={text} onChange={({ target }) => onChange(target.value)}>
              <option value="">{t('Default')}</option>
              {(property['enum'] as unknown[]).map((one) => (
                <option key={String(one)}>{String(one)}</option>
              ))}
            </select>
          );
        if (control === 'lines' || control === 'pairs' || control === 'json' || control === 'long')
          return (
            <textarea
              {...common}
              rows={control === 'long' ? 5 : 3}
              spellCheck={control === 'long'}
              value={text}
              onChange={({ target }) => onChange(target.value)}
            />
          );
        return (
          <input
            {...common}
            inputMode={control === 'number' ? 'numeric' : 'text'}
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={({ target }) => onChange(target.value)}
          />
        );
      }}
    </Field>
  );
}
