import { errorText, type ConnectorState, type StartContext } from '@svc/connector-kit';
import { isSupergroup } from './chat-place.ts';

/** A message that the bot has sent, and the nonce of the part of a reply that it shows. */
type Sent = { id: number; nonce: string | null };

/** What is known of the messages in each chat: the latest ones that the bot has sent, over restarts, and the newest that came. */
export type SentMessages = {
  /** The bot has sent messages. Resolves when it is on the disk. */
  note(chat: string, ids: readonly number[], nonce: string | null): Promise<void>;
  latest(chat: string): readonly Sent[];
  /** A message came. */
  saw(chat: string, id: number): void;
  /** Id of the last message that came in a chat, where it is known. */
  newestIn(chat: string): number | undefined;
  /** The highest id that is known among those that count together with a chat's. */
  highest(chat: string): number;
};

const prefix = 'sent:';
const kept = 40;
const mostChats = 1000;

export async function openSentMessages(state: ConnectorState, log: StartContext['log']): Promise<SentMessages> {
  const rows = await state.list(prefix);
  const chats = new Map(rows.map(({ key, value }) => [key.slice(prefix.length), toSent(value)]));
  const newest = new Map<string, number>();
  /** Private chats and groups of a bot count together, each supergroup for itself. */
  const highest = new Map<string, number>();
  const countOf = (chat: string) => (isSupergroup(chat) ? chat : 'together');
  const raise = (of: Map<string, number>, name: string, id: number) => {
    const most = Math.max(of.get(name) ?? 0, id);
    of.delete(name);
    of.set(name, most);
    for (const oldest of of.keys()) if (of.size > mostChats) of.delete(oldest);
  };
  for (const [chat, sent] of chats) for (const { id } of sent) raise(highest, countOf(chat), id);

  async function save(changes: Record<string, [number, string | null][] | undefined>): Promise<void> {
    await state.change(changes).catch((error: unknown) => {
      log('error', 'what was sent to a chat could not be noted', { error: errorText(error) });
    });
  }

  return {
    latest: (chat) => chats.get(chat) ?? [],
    newestIn: (chat) => newest.get(chat),
    highest: (chat) => highest.get(countOf(chat)) ?? 0,
    saw(chat, id) {
      raise(newest, chat, id);
      raise(highest, countOf(chat), id);
    },
    async note(chat, ids, nonce) {
      const sent = [...(chats.get(chat) ?? []), ...ids.map((id) => ({ id, nonce }))].slice(-kept);
      chats.delete(chat);
      chats.set(chat, sent);
      for (const id of ids) raise(highest, countOf(chat), id);
      const oldest = chats.size > mostChats ? chats.keys().next().value : undefined;
      if (oldest !== undefined) chats.delete(oldest);
      await save({
        [prefix + chat]: sent.map(({ id, nonce: of }) => [id, of]),
        ...(oldest !== undefined && { [prefix + oldest]: undefined }),
      });
    },
  };
}

/** What another version has noted may be something else. */
const toSent = (value: unknown): Sent[] =>
  (Array.isArray(value) ? value : []).flatMap((row: unknown) =>
    Array.isArray(row) && typeof row[0] === 'number' ? [{ id: row[0], nonce: typeof row[1] === 'string' ? row[1] : null }] : [],
  );
