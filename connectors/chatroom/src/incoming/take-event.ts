import { channelKey, type Amendment, type Envelope, type Ingress, type StartContext } from '@svc/connector-kit';
import { isPassing } from '@svc/connector-kit/ingress/passing-faults.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { APIInteraction } from 'discord-api-types/v10';
import { meta } from '../meta.ts';
import type { MessageAuthors } from './message-authors.ts';
import { editedAt, type ChatEvent, type ChatMessage } from './read-event.ts';
import { toReactionEnvelope } from './reaction-envelope.ts';
import { mayActAs } from './senders.ts';
import { bySpeaker, placeOf, speakerOf, textOf, toEnvelope, type EnvelopeDeps } from './to-envelope.ts';

export type TakeDeps = EnvelopeDeps &
  Pick<StartContext, 'log'> & {
    ingress: Ingress;
    authors: MessageAuthors;
    /** Someone posted a message. */
    seen(channel: string, message: string): void;
    /** A command was chosen or a button pressed. Rejects when the event must be delivered again. */
    interacted(interaction: APIInteraction): Promise<void>;
  };

/** Passes one event on. Resolves when it may be acknowledged; rejects only when it must be delivered again. */
export async function takeEvent(deps: TakeDeps, event: ChatEvent): Promise<void> {
  try {
    await hand(deps, event);
  } catch (error) {
    if (isPassing(error)) throw error;
    deps.log('error', 'an event could not be read and was skipped', { kind: event.kind, error: errorText(error) });
  }
}

async function hand(deps: TakeDeps, event: ChatEvent): Promise<void> {
  switch (event.kind) {
    case 'message':
      return takeMessage(deps, event.message);
    case 'edited':
      return edited(deps, event.message);
    case 'deleted':
      await Promise.all(event.messages.map((message) => deleted(deps, event.channel, message)));
      return;
    case 'reaction': {
      const { channel_id, message_id, user_id, emoji } = event.reaction;
      const id = ['reaction', message_id, user_id, emoji.id ?? emoji.name].join(':');
      return deps.ingress.take(channel_id, id, (signal) => toReactionEnvelope(deps, event.reaction, id, signal));
    }
    case 'interaction':
      return deps.interacted(event.interaction);
  }
}

function takeMessage(deps: TakeDeps, message: ChatMessage): Promise<void> {
  const { channel_id: channel, id } = message;
  deps.seen(channel, id);
  const noted = (envelope: Envelope | null): Envelope | null => {
    if (envelope !== null) deps.authors.note(id, envelope.sender);
    return envelope;
  };
  return deps.ingress.take(channel, id, async (signal) => noted(await toEnvelope(deps, message, signal)));
}

async function edited(deps: TakeDeps, message: ChatMessage): Promise<void> {
  const { channel_id: channel, id, author } = message;
  const version = editedAt(message);
  if (author.id === deps.bot.id || version === null) return;
  return deps.ingress.amend(channel, `${id}:${version}`, async (signal) => {
    const placed = await placeOf(deps, message, signal);
    const noted = deps.authors.of(id);
    const isNoted = noted !== undefined && mayActAs(noted, message.member?.roles ?? []);
    const sender = isNoted ? noted : (await speakerOf(deps, message, placed, signal)).sender;
    // The edit belongs to the time of the message, so its lateness is not mentioned again.
    const text = textOf({ ...deps, now: () => 0 }, message, placed?.guild);
    return {
      ...named(deps, channel, id),
      version,
      text: bySpeaker(sender, author.username, text),
      as: { channel: meta.type, sender },
    };
  });
}

/** A moderator may have deleted it, which Discord does not report, so a deletion counts as the author's. */
function deleted(deps: TakeDeps, channel: string, id: string): Promise<void> {
  return deps.ingress.amend(channel, `${id}:deleted`, async () => {
    const sender = deps.authors.of(id);
    if (sender === undefined) return null;
    return { ...named(deps, channel, id), version: Number.MAX_SAFE_INTEGER, text: null, as: { channel: meta.type, sender } };
  });
}

const named = ({ instanceId }: TakeDeps, channel: string, id: string): Pick<Amendment, 'conversation_key' | 'message_id'> => ({
  conversation_key: channelKey(meta.type, instanceId, channel),
  message_id: id,
});
