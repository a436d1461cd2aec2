import { isRecord } from '@svc/contract/json-value.ts';
import { anonymousSender } from '@svc/contract/trust.ts';

/** The identity of callers without a key. No key may use it: its rights would be open to everyone through an instance without keys. */
export const anonymousCaller = { identity: anonymousSender, username: anonymousSender } as const;

/** One entry of a keys file. */
export type KeyEntry = { key: string; identity: string; username: string };

const maxKeys = 10_000;

/**
 * Parses the text of a keys file. One bad entry makes the whole file invalid, because half a list of callers is not what its author wrote.
 * Errors name the entry, but never its key.
 */
export function parseKeys(text: string): KeyEntry[] {
  const list = (parseJson(text) as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(list)) throw new Error('it must contain a list "keys"');
  if (list.length > maxKeys) throw new Error(`it has more than ${maxKeys} keys`);
  const owners = new Map<string, string>();
  return list.map((item: unknown, index) => {
    const entry = toEntry(item, `keys[${index}]`);
    const owner = owners.get(entry.key);
    if (owner !== undefined && owner !== entry.identity) throw new Error(`keys[${index}] has the same key as another identity`);
    owners.set(entry.key, entry.identity);
    return entry;
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message may quote the text, which contains keys.
    throw new Error('it is not valid JSON');
  }
}

function toEntry(item: unknown, at: string): KeyEntry {
  if (!isRecord(item)) throw new Error(`${at} is not an object`);
  const { key, identity, username } = item;
  if (typeof key !== 'string' || !/^\S{1,512}$/.test(key))
    throw new Error(`${at}.key must be a string of 1 to 512 characters without spaces`);
  if (!isName(identity)) throw new Error(`${at}.identity must be a string of 1 to 256 characters`);
  if (identity === anonymousCaller.identity)
    throw new Error(`${at}.identity is "anonymous", the name of callers without a key; choose another`);
  if (username !== undefined && !isName(username)) throw new Error(`${at}.username must be a string of 1 to 256 characters`);
  return { key, identity, username: username ?? identity };
}

/** Only well-formed text: invalid characters would make different identities equal once they are hashed. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= 256 && value.isWellFormed();
