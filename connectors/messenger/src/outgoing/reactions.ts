import { errorText, ServiceError, withWorkingSign, type ChatGate, type OpenReply, type StartContext } from '@svc/connector-kit';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import type { BotCall } from './bot-call.ts';
import { chatOf, toMessageId } from './chat-place.ts';

/** The reactions that bots may use. */
const allowed = new Set(
  (
    '❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 ' +
    '🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡'
  ).split(' '),
);
/** Removes the variation selector that asks for colour, and skin tones: the same emoji may be written with or without them. */
const plain = (emoji: string): string => emoji.replaceAll(/\ufe0f|\p{Emoji_Modifier}/gu, '');

export const isReaction = (emoji: string): boolean => allowed.has(plain(emoji));

export type ReactionDeps = { call: BotCall; gate: ChatGate; log: StartContext['log'] };

/** The bot's reactions to messages. A chat that forbids them is tried only once. */
export type Reactions = {
  /** Resolves to false when the message cannot have the reaction. */
  set(chat: string, message: string, emoji: string, signal?: AbortSignal): Promise<boolean>;
  /** Whether a message with this id may exist: removing its reaction succeeds for an existing message, and is not a write to the chat. */
  reach(chat: string, id: number, signal: AbortSignal): Promise<boolean>;
  /** Marks the answered message with a sign while the turn works; a reaction of the reply itself stays. */
  whileWorking(openReply: OpenReply, chatOfEnvelope: (envelope: Parameters<OpenReply>[0]) => string): OpenReply;
};

const workSign = '👀';
const mostForbidding = 1000;
const mostChosen = 1000;
/** Longest wait of the sign for its turn to be written, ms. */
const signWithinMs = 30_000;

export function createReactions({ call, gate, log }: ReactionDeps): Reactions {
  const forbidding = new Set<string>();
  /** Messages with a reaction of the reply: a message has only one of the bot, which the sign must neither replace nor take along. */
  const chosen = new Set<string>();
  const nameOf = (chat: string, message: string) => `${chatOf(chat)}:${toMessageId(message)}`;

  async function set(chat: string, message: string, emoji: string, signal?: AbortSignal): Promise<boolean> {
    if (!(await write(chat, message, emoji, signal))) return false;
    chosen.add(nameOf(chat, message));
    forgetOldest(chosen, mostChosen);
    return true;
  }

  async function write(chat: string, message: string, emoji: string | null, signal?: AbortSignal): Promise<boolean> {
    if (forbidding.has(chatOf(chat))) return false;
    const reaction = emoji === null ? [] : [{ type: 'emoji', emoji: plain(emoji) }];
    try {
      await call('setMessageReaction', { chat_id: chatOf(chat), message_id: toMessageId(message), reaction }, signal);
      return true;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code === 'busy') throw error;
      if (/REACTION|react/i.test(error.message) && error.code === 'unprocessable') forbid(chatOf(chat));
      return false;
    }
  }

  function forbid(chat: string): void {
    if (forbidding.size >= mostForbidding) forbidding.clear();
    forbidding.add(chat);
  }

  /** The sign is a courtesy: its errors are ignored. */
  const show = (chat: string, message: string, isOn: boolean): Promise<unknown> =>
    gate
      .run(chatOf(chat), () => showSign(chat, message, isOn), { withinMs: signWithinMs })
      .catch((error: unknown) => {
        log('debug', 'a reaction could not be set', { error: errorText(error) });
      });

  async function showSign(chat: string, message: string, isOn: boolean): Promise<void> {
    const name = nameOf(chat, message);
    if (!chosen.has(name)) await write(chat, message, isOn ? workSign : null);
    if (!isOn) chosen.delete(name);
  }

  async function reach(chat: string, id: number, signal: AbortSignal): Promise<boolean> {
    const params = { chat_id: chatOf(chat), message_id: id, reaction: [] };
    try {
      await gate.run(chatOf(chat), () => call('setMessageReaction', params, signal), { signal });
      return true;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code === 'busy') throw error;
      return error.code !== 'not_found';
    }
  }

  return {
    set,
    reach,
    whileWorking: (openReply, chatOfEnvelope) =>
      withWorkingSign(openReply, {
        isUnwanted: (envelope) => forbidding.has(chatOf(chatOfEnvelope(envelope))),
        show: (envelope, isOn) => show(chatOfEnvelope(envelope), envelope.message_id ?? '', isOn),
      }),
  };
}
