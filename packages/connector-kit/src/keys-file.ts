import { hash } from 'node:crypto';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { StartContext } from './connector.ts';
import { parseKeys } from './parse-keys.ts';
import { openPrivateFile } from './private-file.ts';

export type Caller = { identity: string; username: string };

export type KeysFile = {
  /** The owner of a key; null for an unknown key. Takes header text as Node decodes it (latin1). */
  find(key: string): Caller | null;
  /** Null while the file is valid, else what is wrong with it. */
  problem(): string | null;
};

type Options = { file: string; clock: Clock; log: StartContext['log'] };

/**
 * The keys of callers, from `{ keys: [{ key, identity, username }] }`. Only digests are kept, and looked up by digest, so timing reveals
 * nothing about a key.
 */
export function createKeysFile(options: Options): KeysFile {
  const callers = openPrivateFile<ReadonlyMap<string, Caller>>({
    ...options,
    name: 'keys file',
    parse: toCallers,
    empty: new Map(),
  });
  return {
    find: (key) => callers.read().get(digest(Buffer.from(key, 'latin1'))) ?? null,
    problem: callers.problem,
  };
}

const toCallers = (text: string): Map<string, Caller> =>
  new Map(parseKeys(text).map(({ key, ...caller }) => [digest(Buffer.from(key)), caller]));

const digest = (key: Buffer): string => hash('sha256', key, 'hex');
