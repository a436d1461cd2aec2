import { errorText, ServiceError, withWorkingSign, type ChatGate, type OpenReply, type StartContext } from '@svc/connector-kit';
import { Routes } from 'discord-api-types/v10';
import { channelOf } from '../chatroom-deps.ts';
import type { ChannelPlace } from './channel-place.ts';
import type { DiscordCall } from './discord-call.ts';

export type ReactionDeps = { call: DiscordCall; place: ChannelPlace; gate: ChatGate; log: StartContext['log'] };

/** The bot's reactions to messages. A channel that forbids them is tried only once. */
export type Reactions = {
  /** Resolves to false when the message cannot have the reaction. */
  set(chat: string, message: string, emoji: string, signal?: AbortSignal): Promise<boolean>;
  /** Marks the answered message with a sign while the turn works. */
  whileWorking(openReply: OpenReply): OpenReply;
};

const workSign = '👀';
const mostForbidding = 1000;
/** Longest wait of the sign for its turn to be written, ms. */
const signWithinMs = 30_000;

/** A Unicode emoji, or one of a server as `name:id`. */
const customEmoji = /^<?a?:?(\w{2,32}:\d{15,21})>?$/;

export function createReactions({ call, place, gate, log }: ReactionDeps): Reactions {
  const forbidding = new Set<string>();

  async function write(method: 'PUT' | 'DELETE', chat: string, message: string, emoji: string, signal?: AbortSignal) {
    const channel = await place(chat, signal);
    const name = encodeURIComponent(customEmoji.exec(emoji)?.[1] ?? emoji);
    await call(method, Routes.channelMessageOwnReaction(channel, message, name), {}, signal);
  }

  async function set(chat: string, message: string, emoji: string, signal?: AbortSignal): Promise<boolean> {
    if (forbidding.has(chat) || !emoji.isWellFormed() || !/^\d{15,21}$/.test(message)) return false;
    try {
      await write('PUT', chat, message, emoji, signal);
      return true;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code === 'busy') throw error;
      if (error.code === 'forbidden') forbid(chat);
      return false;
    }
  }

  function forbid(chat: string): void {
    if (forbidding.size >= mostForbidding) forbidding.clear();
    forbidding.add(chat);
  }

  const show = (chat: string, message: string, isOn: boolean): Promise<unknown> =>
    gate
      .run(chat, () => (isOn ? putSign(chat, message) : takeSign(chat, message)), { withinMs: signWithinMs })
      .catch((error: unknown) => {
        log('debug', 'a reaction could not be set', { error: errorText(error) });
      });
  const signed = new Set<string>();
  async function putSign(chat: string, message: string): Promise<void> {
    if (await set(chat, message, workSign)) signed.add(message);
  }
  async function takeSign(chat: string, message: string): Promise<void> {
    if (signed.delete(message)) await write('DELETE', chat, message, workSign);
  }

  return {
    set,
    whileWorking: (openReply) =>
      withWorkingSign(openReply, {
        isUnwanted: (envelope) => forbidding.has(channelOf(envelope)),
        show: (envelope, isOn) => show(channelOf(envelope), envelope.message_id ?? '', isOn),
      }),
  };
}
