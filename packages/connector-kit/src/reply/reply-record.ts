import { hash } from 'node:crypto';
import { isRecord } from '@svc/contract/json-value.ts';
import { isWithin, type Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { StartContext } from '../connector.ts';
import type { ConnectorState } from '../state/state.ts';

/**
 * What is on the platform of one reply. `messages`: the id of each (null for a posted message whose id is unknown), and the digest of its
 * text, empty when unknown. `doomed`: messages that must be removed. `lost`: nonces of posts that may exist and are not retried. `cuts`:
 * offsets in the text at which a new message begins. `intent`: the message that is being posted. `live`: number of writes while it grew,
 * where they are counted. `round`: raised when messages are given up, so that their replacements get new nonces.
 */
export type ReplyRecord = {
  chat: string;
  turn?: string;
  round: number;
  messages: { id: string | null; digest: string }[];
  doomed: string[];
  lost?: string[];
  cuts: number[];
  extras: number;
  intent?: number;
  live?: number;
  done?: boolean;
  at: number;
};

export type ReplyRecords = {
  load(name: string): Promise<ReplyRecord | undefined>;
  /** Resolves when it is on disk. A failure of the disk is logged: replies are still shown, and a crash may repeat a part. */
  save(name: string, record: ReplyRecord): Promise<void>;
};

const prefix = 'reply:';
/** How many completed replies are kept, so that a push of one finds that it has been shown. */
const keptDone = 1000;
/** How many replies that never finished are kept, and for how long: nobody asks for them after that. */
const keptOpen = { replies: 2000, ms: 7 * 24 * 3600_000 };
/** Surplus records are removed after this many replies. */
const pruneEvery = 200;

export const digestOf = (text: string): string => hash('sha256', text, 'base64url').slice(0, 16);

/** The nonce that identifies a part to the platform. */
export const nonceOf = (name: string, round: number, part: string): string =>
  hash('sha256', compositeKey(name, round, part), 'base64url').slice(0, 24);

/** A record of another version of the kit may have another form. */
const isReply = (found: unknown): found is ReplyRecord =>
  isRecord(found) &&
  typeof found['round'] === 'number' &&
  [found['messages'], found['doomed'], found['cuts']].every((list) => Array.isArray(list));

/** Replies stored since the records were last counted. */
const sincePruned = new WeakMap<ConnectorState, number>();

export function createReplyRecords(state: ConnectorState, clock: Clock, log: StartContext['log']): ReplyRecords {
  const keyOf = (name: string) => prefix + hash('sha256', name, 'base64url');

  const note = async (work: Promise<void>): Promise<void> => {
    try {
      await work;
    } catch (error) {
      log('error', 'the shown messages of a reply could not be saved', { error: errorText(error) });
    }
  };

  async function prune(): Promise<void> {
    const rows = (await state.list(prefix)).map(({ key, value }) => ({
      key,
      record: isReply(value) ? value : ({ at: 0 } as ReplyRecord),
    }));
    const newestFirst = rows.toSorted((a, b) => b.record.at - a.record.at);
    const done = newestFirst.filter(({ record }) => record.done === true).slice(keptDone);
    const open = newestFirst.filter(({ record }) => record.done !== true);
    const old = open.filter(({ record }, index) => index >= keptOpen.replies || !isWithin(record.at, keptOpen.ms, clock.now()));
    if (done.length + old.length === 0) return;
    await state.change(Object.fromEntries([...done, ...old].map(({ key }) => [key, undefined])));
  }

  return {
    async load(name) {
      const found = await state.get(keyOf(name)).catch((error: unknown) => {
        log('error', 'the shown messages of a reply could not be read', { error: errorText(error) });
      });
      return isReply(found) ? found : undefined;
    },
    async save(name, record) {
      await note(state.set(keyOf(name), { ...record, at: clock.now() }));
      if (record.done !== true) return;
      const count = (sincePruned.get(state) ?? pruneEvery - 1) + 1;
      sincePruned.set(state, count % pruneEvery);
      if (count === pruneEvery) await note(prune());
    },
  };
}
