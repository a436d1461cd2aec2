import { Field, type FieldProps } from './field.tsx';

type Props = Omit<FieldProps, 'children'> & {
  value: string;
  onChange(value: string): void;
  /** Which stored password the browser may offer; none by default. */
  autoComplete?: 'new-password' | 'current-password';
  minLength?: number;
  maxLength?: number;
};

/** A password field: its text is hidden. */
export function SecretField({ value, onChange, autoComplete = 'new-password', minLength, maxLength, ...field }: Props) {
  return (
    <Field {...field}>
      {(props) => (
        <input
          {...props}
          type="password"
          autoComplete={autoComplete}
          minLength={minLength}
          maxLength={maxLength}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}
