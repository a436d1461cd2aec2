import { ServiceError } from '@svc/connector-kit';
import type { DiscordCall } from './discord-call.ts';

/** A target of messages: the id of a channel, thread or post, or `user:ID` for a private message. */
export const isTarget = (target: string): boolean => /^(?:user:)?\d{15,21}$/.test(target);

/** Resolves a target to its channel. Rejects for an invalid target. */
export type ChannelPlace = (target: string, signal?: AbortSignal) => Promise<string>;

const mostKnown = 1000;

/** Opens each private channel only once. */
export function createChannelPlace(call: DiscordCall): ChannelPlace {
  const opened = new Map<string, string>();
  return async (target, signal) => {
    if (!isTarget(target)) throw noTarget(target);
    const [, person] = /^user:(.*)/.exec(target) ?? [];
    if (person === undefined) return target;
    const known = opened.get(person);
    if (known !== undefined) return known;
    const { id } = await call<{ id: string }>('POST', '/users/@me/channels', { body: { recipient_id: person } }, signal);
    if (opened.size >= mostKnown) opened.clear();
    opened.set(person, id);
    return id;
  };
}

export const noTarget = (target: string): ServiceError =>
  new ServiceError(
    'unprocessable',
    `"${target.slice(0, 100)}" is not a Discord channel. Use the ID of a channel or thread, or user:ID for a private message.`,
  );

/** Whether a message is newer than another: Discord's ids are ascending numbers. */
export const isLater = (id: string, than: string): boolean => (id.length === than.length ? id > than : id.length > than.length);
