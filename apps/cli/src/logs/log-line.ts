import { isRecord, parseRecordOrNull } from '@svc/contract/json-value.ts';
import { visible, type Style } from '../terminal.ts';

/** One line of a log file, with the fields for sorting and filtering. */
export type LogEntry = { at: number; name: string; raw: string };

/** `time` of a JSON line (epoch ms); a line without one stays after the line `before`. */
export function toLogEntry(name: string, raw: string, before: number): LogEntry {
  const time = parseLine(raw)?.['time'];
  return { at: typeof time === 'number' ? time : before, name, raw };
}

const ownFields = new Set(['level', 'time', 'service', 'msg', 'pid', 'hostname', 'stream', 'err', 'stack']);

/** `12:03:11.042 core     warn  what happened (why) key=value`: one line for each record; the stack of an error is shown by `--json`. */
export function renderLogEntry({ at, name, raw }: LogEntry, style: Style): string {
  const fields = parseLine(raw);
  const clock = at === 0 ? ''.padEnd(12) : timeOfDay(at);
  const label = name.padEnd(10);
  if (fields === null) return `${style.dim(clock)} ${label} ${visible(raw)}`;
  const level = oneLine(String(fields['level'] ?? 'info'));
  const rest = Object.entries(fields).filter(([key]) => !ownFields.has(key));
  const details = rest
    .map(([key, value]) => `${key}=${oneLine(typeof value === 'string' ? value : JSON.stringify(value))}`)
    .join(' ');
  const message = oneLine(messageOf(fields));
  return `${style.dim(clock)} ${style.bold(label)} ${levelLook(level, style)(level.padEnd(5))} ${message} ${style.dim(details)}`.trimEnd();
}

/** The message of a line, without its time and fields; a line that is not JSON is unchanged. */
export function logWords(raw: string): string {
  const fields = parseLine(raw);
  return oneLine((fields === null ? '' : messageOf(fields)) || raw);
}

/** The message, and that of the error if it adds something. */
function messageOf({ msg, err }: Record<string, unknown>): string {
  const [said, why] = [msg, isRecord(err) ? err['message'] : undefined].map((part) => (typeof part === 'string' ? part : ''));
  return why === undefined || why === '' || said?.includes(why) === true ? (said ?? '') : `${said} (${why})`;
}

/** In local time, like all other output here. */
function timeOfDay(at: number): string {
  const time = new Date(at);
  const ms = String(time.getMilliseconds()).padStart(3, '0');
  return `${time.toLocaleTimeString('en-GB')}.${ms}`;
}

/** A text with line breaks could look like additional entries. */
const oneLine = (text: string): string => visible(text).replaceAll('\n', '\\n');

function levelLook(level: string, style: Style): (text: string) => string {
  if (level === 'error' || level === 'fatal') return style.red;
  return level === 'warn' ? style.yellow : style.dim;
}

function parseLine(raw: string): Record<string, unknown> | null {
  return raw.startsWith('{') ? parseRecordOrNull(raw) : null;
}
