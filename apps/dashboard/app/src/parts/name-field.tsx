import { t } from '@svc/chat-ui/language/t.ts';
import { Field } from './field.tsx';

type Props = {
  hint: string;
  value: string;
  /** What is wrong with the name; null when it is valid. */
  fault: string | null;
  onChange(name: string): void;
};

/** The name of something new, used by programs: trimmed, without spelling help. */
export const NameField = ({ hint, value, fault, onChange }: Props) => (
  <Field label={t('Name')} hint={hint} fault={fault}>
    {(props) => (
      <input
        {...props}
        value={value}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        onChange={({ target }) => onChange(target.value.trim())}
      />
    )}
  </Field>
);
