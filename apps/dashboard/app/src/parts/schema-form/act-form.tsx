import type { ConfigSchema } from '@svc/contract/connector-meta.ts';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { call, type Method } from '../api.ts';
import { FormButtons } from '../form-buttons.tsx';
import { refresh } from '../query.ts';
import { toast } from '../toast.tsx';
import { fieldFaults } from './field-faults.ts';
import { type Draft, readDraft, toDraft } from './read-draft.ts';
import { SchemaForm } from './schema-form.tsx';

type Call = { method: Method; path: string; body: unknown; timeoutMs?: number };
type Props<T> = {
  schema: ConfigSchema;
  /** What stands in the fields at first. */
  values?: Readonly<Record<string, unknown>>;
  /** Verb and thing. */
  button: string;
  /** Paths, or beginnings of paths, that say something else from then on. */
  changes: readonly string[];
  /** The call, by what was filled in. Fields that were left empty are not in `values`, and null in `all`. */
  toCall(values: Record<string, unknown>, all: Record<string, unknown>): Call;
  done(answer: T): string;
  onDone?(answer: T): void;
  onClose?(): void;
  /** Fields that no schema describes. */
  children?: ReactNode;
};

/** A form by a schema, for one call. What is wrong with a field stands at it; what is wrong with all of them stands below. */
export function ActForm<T>({ schema, values = {}, button, changes, toCall, done, onDone, onClose, children }: Props<T>) {
  const client = useQueryClient();
  const [draft, setDraft] = useState<Draft>(() => toDraft(schema, values));
  const [faults, setFaults] = useState<Record<string, string>>({});
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  const save = async () => {
    const read = readDraft(schema, draft);
    setFault(null);
    setFaults(read.ok ? {} : read.faults);
    if (!read.ok) return;
    setBusy(true);
    try {
      const given = Object.fromEntries(Object.entries(read.values).filter(([, value]) => value !== null));
      const { method, path, ...options } = toCall(given, read.values);
      const answer = await call<T>(method, path, options);
      toast(done(answer));
      onDone?.(answer);
      onClose?.();
    } catch (error) {
      setFaults(fieldFaults(error));
      setFault(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
      await refresh(client, changes);
    }
  };

  return (
    <form
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
