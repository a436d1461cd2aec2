import type { ConfigSchema } from '@svc/contract/connector-meta.ts';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { call, type Method } from '../api.ts';
import { FormButtons } from '../form-buttons.tsx';
import { refresh } from '../query.ts';
import { toast } from '../toast.tsx';
import { noteSaved } from '../use-typed.ts';
import { readFaults } from './field-faults.ts';
import { type Draft, readDraft, toDraft } from './read-draft.ts';
import { SchemaForm } from './schema-form.tsx';
import { useFaultFocus } from './use-fault-focus.ts';

type Call = { method: Method; path: string; body: unknown; timeoutMs?: number };
type Props<T> = {
  schema: ConfigSchema;
  /** The initial values of the fields. */
  values?: Readonly<Record<string, unknown>>;
  /** Verb and thing. */
  button: string;
  /** Paths, or beginnings of paths, whose data the call changes. */
  changes: readonly string[];
  /** Errors by field, found before the call. */
  check?(values: Record<string, unknown>): Record<string, string>;
  /** The call for the values of the form. Empty fields are missing in `values`, and null in `all`. */
  toCall(values: Record<string, unknown>, all: Record<string, unknown>): Call;
  done(answer: T): string;
  onDone?(answer: T): void;
  onClose?(): void;
  /** Fields that no schema describes. */
  children?: ReactNode;
};

/** A form for one call, generated from a schema. Errors are shown at their field; those of the whole form below it. */
export function ActForm<T>({ schema, values = {}, button, changes, check, toCall, done, onDone, onClose, children }: Props<T>) {
  const client = useQueryClient();
  const [draft, setDraft] = useState<Draft>(() => toDraft(schema, values));
  const [faults, setFaults] = useState<Record<string, string>>({});
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const form = useFaultFocus(faults);

  const save = async () => {
    const read = readDraft(schema, draft);
    setFault(null);
    if (!read.ok) return setFaults(read.faults);
    const given = Object.fromEntries(Object.entries(read.values).filter(([, value]) => value !== null));
    const wrong = check?.(given) ?? {};
    setFaults(wrong);
    if (Object.keys(wrong).length > 0) return;
    setBusy(true);
    try {
      const { method, path, ...options } = toCall(given, read.values);
      const answer = await call<T>(method, path, options);
      noteSaved();
      toast(done(answer));
      onDone?.(answer);
      onClose?.();
    } catch (error) {
      const { fields, rest } = readFaults(error, Object.keys(schema.properties));
      setFaults(fields);
      setFault(rest);
    } finally {
      setBusy(false);
      await refresh(client, changes);
    }
  };

  return (
    <form
      ref={form}
      className="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <SchemaForm schema={schema} draft={draft} faults={faults} isShort onChange={setDraft} />
      {children}
      {fault !== null && (
        <p className="fault" role="alert">
          {fault}
        </p>
      )}
      <FormButtons submit={button} isOff={isBusy} onClose={onClose} />
    </form>
  );
}
