import type { StartContext } from '../connector.ts';

/** `fatal`: why this process ends; connectors have no such level. */
type Level = Parameters<StartContext['log']>[0] | 'fatal';

export type ChildLog = ((level: Level, message: string, fields?: object) => void) & {
  /** Adds the connector's name to all further lines. */
  bind(service: string, instance: string): void;
};

const maxText = 2_000;

/** Writes JSON lines to stdout: `level, time, service, instance, msg` and fields. The manager stores them. */
export function createChildLog(withDebug: boolean, write = (line: string) => void process.stdout.write(line)): ChildLog {
  let service = 'connector';
  let instance: string | undefined;
  // The reader of the log may be gone, which is noticed elsewhere.
  process.stdout.on('error', () => undefined);

  const log = (level: Level, message: string, fields: object = {}) => {
    if (level === 'debug' && !withDebug) return;
    const base = { level, time: Date.now(), service, instance, msg: message };
    // The base is spread twice: it comes first in the line, and no field can overwrite it.
    write(`${toLine({ ...base, ...fields, ...base })}\n`);
  };
  return Object.assign(log, {
    bind(type: string, id: string) {
      service = type;
      instance = id;
    },
  });
}

function toLine(entry: object): string {
  try {
    return JSON.stringify(entry, (_key, value: unknown) => (typeof value === 'string' ? value.slice(0, maxText) : value));
  } catch {
    // A field that cannot be serialized (a cycle, a bigint) must not cost the message.
    const { level, time, service, instance, msg } = entry as Record<string, unknown>;
    return JSON.stringify({ level, time, service, instance, msg, fields: 'not printable' });
  }
}
