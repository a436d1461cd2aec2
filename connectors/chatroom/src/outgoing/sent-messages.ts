import { errorText, type ConnectorState, type StartContext } from '@svc/connector-kit';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import { isLater } from './channel-place.ts';

/** A message that the bot has posted, with the nonce of the reply part that it shows. */
type Sent = { id: string; nonce: string | null };

/** The known messages in each channel: the latest ones of the bot, kept across restarts, and the newest received one. */
export type SentMessages = {
  /** The bot has posted a message. Resolves when this is on disk. */
  note(channel: string, id: string, nonce: string | null): Promise<void>;
  latest(channel: string): readonly Sent[];
  /** A message was received. */
  saw(channel: string, id: string): void;
  /** Whether a message newer than another is known. */
  hasLater(channel: string, than: string): boolean;
};

const prefix = 'sent:';
const kept = 40;
const mostChannels = 1000;

export async function openSentMessages(state: ConnectorState, log: StartContext['log']): Promise<SentMessages> {
  const rows = await state.list(prefix);
  const channels = new Map(rows.map(({ key, value }) => [key.slice(prefix.length), toSent(value)]));
  const newest = new Map<string, string>();

  function raise(channel: string, id: string): void {
    const before = newest.get(channel);
    newest.delete(channel);
    newest.set(channel, before === undefined || isLater(id, before) ? id : before);
    forgetOldest(newest, mostChannels);
  }

  return {
    latest: (channel) => channels.get(channel) ?? [],
    saw: raise,
    hasLater(channel, than) {
      const last = newest.get(channel);
      return last !== undefined && isLater(last, than);
    },
    async note(channel, id, nonce) {
      const sent = [...(channels.get(channel) ?? []), { id, nonce }].slice(-kept);
      channels.delete(channel);
      channels.set(channel, sent);
      raise(channel, id);
      const oldest = channels.size > mostChannels ? channels.keys().next().value : undefined;
      if (oldest !== undefined) channels.delete(oldest);
      const changes = {
        [prefix + channel]: sent.map((each) => [each.id, each.nonce]),
        ...(oldest !== undefined && { [prefix + oldest]: undefined }),
      };
      await state.change(changes).catch((error: unknown) => {
        log('error', 'a message that was posted in a channel could not be recorded', { error: errorText(error) });
      });
    },
  };
}

/** A record of another version may have another form. */
const toSent = (value: unknown): Sent[] =>
  (Array.isArray(value) ? value : []).flatMap((row: unknown) =>
    Array.isArray(row) && typeof row[0] === 'string' ? [{ id: row[0], nonce: typeof row[1] === 'string' ? row[1] : null }] : [],
  );
