import { type ReactNode, useId } from 'react';

export type FieldProps = {
  label: string;
  hint?: ReactNode;
  fault?: string | null;
  children(props: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }): ReactNode;
};

/** A label with its control, what it is for, and what is wrong with it. */
export function Field({ label, hint, fault = null, children }: FieldProps) {
  const id = useId();
  const words = `${id}-words`;
  const hasWords = hint !== undefined || fault !== null;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, ...(hasWords && { 'aria-describedby': words }), ...(fault !== null && { 'aria-invalid': true }) })}
      {hasWords && (
        <div id={words} className="field-words">
          {hint !== undefined && <p className="muted small">{hint}</p>}
          {fault !== null && <p className="fault small">{fault}</p>}
        </div>
      )}
    </div>
  );
}
