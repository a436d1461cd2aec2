import { Field, type FieldProps } from './field.tsx';

type Props = Omit<FieldProps, 'children'> & {
  value: string;
  onChange(value: string): void;
  /** Which of its passwords the browser may offer; unless given, none of them. */
  autoComplete?: 'new-password' | 'current-password';
  minLength?: number;
  maxLength?: number;
};

/** A field for what nobody may read over a shoulder. */
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
