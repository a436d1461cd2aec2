import { Field } from '../../parts/field.tsx';

/** Names, one per line: empty for all, `-` for none. */
export const textOf = (names: readonly string[] | '*'): string => (names === '*' ? '' : names.join('\n') || '-');

export function namesOf(text: string): string[] | '*' {
  const names = [...new Set(text.split('\n').map((line) => line.trim()))].filter((name) => name !== '');
  if (names.length === 0) return '*';
  return names.filter((name) => name !== '-');
}

type Props = { label: string; hint: string; text: string; onText(text: string): void };

export function NamesField({ label, hint, text, onText }: Props) {
  return (
    <Field label={label} hint={hint}>
      {(props) => (
        <textarea {...props} rows={2} spellCheck={false} value={text} onChange={({ target }) => onText(target.value)} />
      )}
    </Field>
  );
}
