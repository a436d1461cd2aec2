import type { StartContext } from '../connector.ts';

/** `fatal`: why this process ends. A connector ends none. */
type Level = Parameters<StartContext['log']>[0] | 'fatal';

export type ChildLog = ((level: Level, message: string, fields?: object) => void) & {
  /** Names the connector in all lines from now on. */
  bind(service: string, instance: string): void;
};

const maxText = 2_000;

/** JSON lines on stdout: `level, time, service, instance, msg` and fields. The manager keeps them. */
export function createChildLog(withDebug: boolean, write = (line: string) => void process.stdout.write(line)): ChildLog {
  let service = 'connector';
  let instance: string | undefined;
  // The reader of a log may be gone; its end is seen elsewhere.
  process.stdout.on('error', () => undefined);

  const log = (level: Level, message: string, fields: object = {}) => {
    if (level === 'debug' && !withDebug) return;
    const base = { level, time: Date.now(), service, instance, msg: message };
    // Said twice: first in the line, and not to be overwritten by a field.
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
    // A field that cannot be written (a cycle, a bigint) must not cost the message.
    const { level, time, service, instance, msg } = entry as Record<string, unknown>;
    return JSON.stringify({ level, time, service, instance, msg, fields: 'not printable' });
  }
}
