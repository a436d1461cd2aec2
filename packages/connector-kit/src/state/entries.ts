import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { badRequest, ServiceError } from '@svc/service-kit/service-error.ts';
import { illFormedIn } from '@svc/service-kit/well-formed.ts';
import type { StateValue } from './state.ts';

/** One line of the file: entries to set or, as null, to delete; or an item to append to the list of a key. Values are JSON texts. */
export type Change = { set: Record<string, string | null> } | { append: string; item: string; keep: number };

const maxKey = 512;
/** Room for a message of maximum length in which every character is escaped. */
const maxValue = 8 * 1024 * 1024;
const maxTotal = 32 * 1024 * 1024;
/** Memory that an entry needs besides its texts. */
const overhead = 64;

/** The entries, stored as JSON texts, so that no caller shares a value with them. */
export type Entries = {
  get(key: string): string | undefined;
  keys(): IterableIterator<string>;
  apply(change: Change): void;
  /** @throws ServiceError `too_large` when there is no room for a change */
  checkRoom(change: Change): void;
  /** Size of everything it holds, in characters. */
  size(): number;
};

export function createEntries(): Entries {
  const entries = new Map<string, string>();
  let size = 0;

  const put = (key: string, text: string | null): void => {
    size += costOf(key, text) - costOf(key, entries.get(key) ?? null);
    if (text === null) entries.delete(key);
    else entries.set(key, text);
  };
  const changesOf = (change: Change): [string, string | null][] =>
    'set' in change ? Object.entries(change.set) : [[change.append, appended(entries.get(change.append), change)]];

  return {
    get: (key) => entries.get(key),
    keys: () => entries.keys(),
    apply: (change) => changesOf(change).forEach(([key, text]) => put(key, text)),
    checkRoom(change) {
      let grown = size;
      for (const [key, text] of changesOf(change)) {
        if (text !== null && text.length > maxValue)
          throw tooLarge(`"${key}" would be larger than ${maxValue / 1024 / 1024} MiB.`);
        grown += costOf(key, text) - costOf(key, entries.get(key) ?? null);
      }
      if (grown > maxTotal && grown > size) throw tooLarge(`The state would be larger than ${maxTotal / 1024 / 1024} MiB.`);
    },
    size: () => size,
  };
}

const costOf = (key: string, text: string | null): number => (text === null ? 0 : key.length + text.length + overhead);

function appended(list: string | undefined, { item, keep }: { item: string; keep: number }): string {
  const found: unknown = list === undefined ? [] : JSON.parse(list);
  const items: unknown[] = Array.isArray(found) ? found : [found];
  items.push(JSON.parse(item));
  return JSON.stringify(items.slice(-keep));
}

const tooLarge = (why: string) => new ServiceError('too_large', `The state cannot be saved. ${why}`);

/** @throws ServiceError `bad_request` */
export function checkKey(key: string): string {
  if (typeof key === 'string' && key !== '' && key.length <= maxKey && key.isWellFormed()) return key;
  throw badRequest(`A key of the state must have 1 to ${maxKey} characters of valid Unicode.`);
}

/** The JSON text of a value. @throws ServiceError `bad_request` */
export function toText(key: string, value: StateValue): string {
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw badRequest(`"${key}" cannot be saved: its value is not valid JSON.`);
  const broken = illFormedIn(text, value, key);
  if (broken !== null) throw badRequest(`"${key}" cannot be saved: ${broken} is not valid Unicode.`);
  return text;
}

/** Parses one line of the file; null when it is not valid. */
export function parseChange(line: string): Change | null {
  const value = parseJsonOrNull(line);
  if (!isRecord(value)) return null;
  const { set, append, item, keep } = value;
  if (typeof append === 'string' && typeof item === 'string' && typeof keep === 'number') return { append, item, keep };
  const isText = (text: unknown) => text === null || typeof text === 'string';
  return isRecord(set) && Object.values(set).every(isText) ? { set: set as Record<string, string | null> } : null;
}
