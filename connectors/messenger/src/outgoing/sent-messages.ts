import { errorText, type ConnectorState, type StartContext, type StateValue } from '@svc/connector-kit';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import { isSupergroup } from './chat-place.ts';

/** A message that the bot has sent, with the nonce of the reply part that it shows. */
type Sent = { id: number; nonce: string | null };

/** The known messages in each chat: the latest ones of the bot, kept across restarts, and the newest received one. */
export type SentMessages = {
  /** The bot has sent messages. Resolves when this is on disk. */
  note(chat: string, ids: readonly number[], nonce: string | null): Promise<void>;
  latest(chat: string): readonly Sent[];
  /** There is a message that is not from the bot, such as a received one. */
  saw(chat: string, id: number): void;
  /** Whether a message with this id is known: received, or sent and recorded. Chats with a common numbering share this. */
  knows(chat: string, id: number): boolean;
  /** Id of the last received message in a chat, if known. */
  newestIn(chat: string): number | undefined;
  /** The highest known id in the numbering of a chat. */
  highest(chat: string): number;
};

const prefix = 'sent:';
/** Received messages, stored together with sent ones. */
const camePrefix = 'came:';
const kept = 40;
/** Number of known ids kept, for each supergroup and for all other chats together. */
const keptIds = 2000;
const mostChats = 1000;

export async function openSentMessages(state: ConnectorState, log: StartContext['log']): Promise<SentMessages> {
  const [rows, cameRows] = await Promise.all([state.list(prefix), state.list(camePrefix)]);
  const came = new Map(cameRows.map(({ key, value }) => [key.slice(camePrefix.length), toIds(value)]));
  const known = new Map<string, Set<number>>();
  const chats = new Map(rows.map(({ key, value }) => [key.slice(prefix.length), toSent(value)]));
  const newest = new Map<string, number>();
  /** A bot's private chats and groups have a common numbering; each supergroup has its own. */
  const highest = new Map<string, number>();
  const countOf = (chat: string) => (isSupergroup(chat) ? chat : 'together');
  const raise = (of: Map<string, number>, name: string, id: number) => {
    const most = Math.max(of.get(name) ?? 0, id);
    of.delete(name);
    of.set(name, most);
    forgetOldest(of, mostChats);
  };
  const know = (chat: string, id: number) => {
    raise(highest, countOf(chat), id);
    const ids = known.get(countOf(chat)) ?? new Set();
    known.delete(countOf(chat));
    known.set(countOf(chat), ids.add(id));
    forgetOldest(ids, keptIds);
    forgetOldest(known, mostChats);
  };
  for (const [chat, ids] of came) for (const id of ids) know(chat, id);
  for (const [chat, sent] of chats) for (const { id } of sent) know(chat, id);

  async function save(changes: Record<string, StateValue | undefined>): Promise<void> {
    await state.change(changes).catch((error: unknown) => {
      log('error', 'a message that was sent to a chat could not be recorded', { error: errorText(error) });
    });
  }

  return {
    latest: (chat) => chats.get(chat) ?? [],
    newestIn: (chat) => newest.get(chat),
    highest: (chat) => highest.get(countOf(chat)) ?? 0,
    saw(chat, id) {
      raise(newest, chat, id);
      know(chat, id);
      const ids = [...(came.get(chat) ?? []), id].slice(-kept);
      came.delete(chat);
      came.set(chat, ids);
      forgetOldest(came, mostChats);
    },
    knows: (chat, id) => known.get(countOf(chat))?.has(id) === true,
    async note(chat, ids, nonce) {
      const sent = [...(chats.get(chat) ?? []), ...ids.map((id) => ({ id, nonce }))].slice(-kept);
      chats.delete(chat);
      chats.set(chat, sent);
      for (const id of ids) know(chat, id);
      const oldest = chats.size > mostChats ? chats.keys().next().value : undefined;
      if (oldest !== undefined) chats.delete(oldest);
      await save({
        [prefix + chat]: sent.map(({ id, nonce: of }) => [id, of]),
        [camePrefix + chat]: came.get(chat),
        ...(oldest !== undefined && { [prefix + oldest]: undefined, [camePrefix + oldest]: undefined }),
      });
    },
  };
}

const toIds = (value: unknown): number[] => (Array.isArray(value) ? value.filter((id) => typeof id === 'number') : []);

/** A record of another version may have another form. */
const toSent = (value: unknown): Sent[] =>
  (Array.isArray(value) ? value : []).flatMap((row: unknown) =>
    Array.isArray(row) && typeof row[0] === 'number' ? [{ id: row[0], nonce: typeof row[1] === 'string' ? row[1] : null }] : [],
  );
