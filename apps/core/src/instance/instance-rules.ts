import { readFile, stat } from 'node:fs/promises';
import { instanceRulesFileSchema, type InstanceRules, type InstanceRulesFile } from '@svc/contract/instance-rules.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { readIfThere, ifThere } from '@svc/service-kit/files.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText, unavailable } from '@svc/service-kit/service-error.ts';
import { lazyCheck } from '../file/lazy-check.ts';

/**
 * The rules that the core enforces for each instance. The manager writes the file; no connector can open it, and no message contains any of
 * it.
 */
export type InstanceRulesReader = {
  /** The rules of an instance; none for a channel of the service itself. @throws ServiceError `unavailable` while they are unknown. */
  of(instanceId: string | null): InstanceRules;
  /** The rules for a message's origin, or for the connector that its pass identifies. */
  ofPlace(place: { channel: string; conversation_key: string; instance_id?: string }): InstanceRules;
  all(): [id: string, rules: InstanceRules][];
  /** Reads the file again if it has changed. Never rejects. */
  reload(): Promise<void>;
  /** Why the rules are not the ones that the manager wrote last; null when they are. */
  fault(): string | null;
  /** Calls `listener` after every change. */
  onChange(listener: () => void): void;
  close(): void;
};

type Deps = {
  file: string;
  instanceOfKey(channel: string, key: string): string | null;
  clock: Pick<Clock, 'after'>;
  log: Pick<Log, 'error'>;
};

/** The manager reports each write; this interval covers a lost report. */
const recheckMs = 1000;
const none: InstanceRules = Object.freeze({});
const isRulesFile = lazyCheck<InstanceRulesFile>(instanceRulesFileSchema);

/**
 * An invalid or missing file leaves the rules as they were; if there were none yet, no connector is admitted. Before the manager has ever
 * written, there is no file, and there are no rules.
 */
export function openInstanceRules({ file, instanceOfKey, clock, log }: Deps): InstanceRulesReader {
  const listeners = new Set<() => void>();
  let rules: ReadonlyMap<string, InstanceRules> | null = null;
  let fault: string | null = null;
  let seen = '';

  const take = (text: string): void => {
    rules = parse(text);
    fault = null;
  };
  const refuse = (error: unknown): void => {
    const before = fault;
    fault = `the rules of connectors cannot be read from ${file} (${errorText(error)}). Restart the service: the manager writes it again`;
    if (before === null) log.error({ err: error }, fault);
  };
  const readAgain = async (): Promise<void> => {
    try {
      const stamp = await stampOf(file);
      if (stamp === seen && fault === null) return;
      take(await readFile(file, 'utf8'));
      seen = stamp;
      for (const listener of listeners) listener();
    } catch (error) {
      refuse(error);
    }
  };
  /** Reads are serialized: an older one must not replace a newer one. */
  let reading = Promise.resolve();
  const reload = (): Promise<void> => (reading = reading.then(readAgain));

  try {
    const text = readIfThere(file);
    if (text === null) {
      seen = noFile;
      rules = new Map();
    } else take(text);
  } catch (error) {
    refuse(error);
  }
  let isClosed = false;
  let cancel = (): void => undefined;
  /** Schedules the next check after this one has ended. */
  const lookLater = (): void => {
    cancel = clock.after(recheckMs, () => void reload().then(() => (isClosed ? undefined : lookLater())));
  };
  lookLater();

  const of = (instanceId: string | null): InstanceRules => {
    if (instanceId === null) return none;
    if (rules === null) throw unavailable(`Connectors are refused: ${fault}.`);
    return rules.get(instanceId) ?? none;
  };

  return {
    of,
    ofPlace: ({ channel, conversation_key, instance_id }) => of(instance_id ?? instanceOfKey(channel, conversation_key)),
    all: () => [...(rules ?? [])],
    reload,
    fault: () => fault,
    onChange: (listener) => void listeners.add(listener),
    close() {
      isClosed = true;
      cancel();
    },
  };
}

function parse(text: string): ReadonlyMap<string, InstanceRules> {
  const value: unknown = JSON.parse(text);
  if (!isRulesFile(value)) throw new Error('it does not contain the rules of connectors');
  return new Map(Object.entries(value));
}

const noFile = 'none';

/** Changes with the file, which is replaced rather than written in place. */
async function stampOf(file: string): Promise<string> {
  const found = await ifThere(stat(file), null);
  return found === null ? noFile : `${found.ino}-${found.mtimeMs}-${found.size}`;
}
