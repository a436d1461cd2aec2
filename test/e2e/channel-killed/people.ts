import { pause } from '@svc/testing/pause.ts';
import type { ChatPlatform } from '@svc/testing/chat-platform/start-chat-platform.ts';
import { answerTo } from './engine-script.ts';

/** A message of a person, and its valid answers. */
export type SaidMessage = {
  /** Its message ids on the platform: one, or one for each part of an album. */
  ids: string[];
  chat: string;
  at: number;
  /** The answers to its versions; one of them must be shown. */
  answers: string[];
  edit: ((name: string) => { text: string; answer: string }) | null;
  isRemoved: boolean;
};

export const people: Record<string, string[]> = {
  ann: ['ann'],
  bob: ['bob'],
  cleo: ['cleo'],
  dan: ['dan'],
  room1: ['ann', 'bob'],
  room2: ['cleo', 'dan'],
};

const maxOpen = 4;
const forgottenAfterMs = 15_000;

/** People who talk in all chats at once until `stop`. Their messages are in `said`, in the order of each chat. */
export function startTalking(platform: ChatPlatform, random: () => number) {
  const said: SaidMessage[] = [];
  let isOver = false;
  let count = 0;

  const talks = Object.entries(people).map(async ([chat, members]) => {
    while (!isOver) {
      await pause(60 + random() * 300);
      const own = said.filter((message) => message.chat === chat);
      if (own.filter((message) => isOpen(platform, message)).length < maxOpen) act(chat, pick(members, random), own);
    }
  });

  function act(chat: string, from: string, own: SaidMessage[]): void {
    const luck = random();
    const last = own.at(random() < 0.5 ? -1 : -2);
    if (luck < 0.1 && last !== undefined && !last.isRemoved) return edit(last);
    if (luck < 0.16 && last !== undefined && !last.isRemoved) return remove(last);
    const files = luck < 0.26 ? 1 : luck < 0.34 ? 2 + Math.floor(random() * 2) : 0;
    say(chat, from, files);
  }

  function say(chat: string, from: string, files: number): void {
    const length = random() < 0.25 ? 160 : Math.floor(random() * 30);
    const version = (name: string) => ({ text: `[${name}] ${length}`, answer: answerTo(name, length, files) });
    const { text, answer } = version(`m${++count}`);
    const sent = Array.from({ length: files }, (_, n) => ({
      name: `${n}.txt`,
      mime: 'text/plain',
      bytes: Buffer.from(`file ${n}`),
    }));
    const [only] = sent;
    const message = { chat, from, text };
    const ids =
      files > 1 ? platform.sayAlbum(message, sent) : [platform.say({ ...message, ...(only !== undefined && { file: only }) })];
    said.push({ ids: ids.map(({ id }) => id), chat, at: Date.now(), answers: [answer], edit: version, isRemoved: false });
  }

  function edit(message: SaidMessage): void {
    const made = message.edit?.(`m${++count}`);
    if (made === undefined) return;
    message.edit = null;
    message.answers.push(made.answer);
    platform.edit(message.ids[0] ?? '', made.text);
  }

  function remove(message: SaidMessage): void {
    message.isRemoved = true;
    for (const id of message.ids) platform.remove(id);
  }

  return {
    said,
    async stop() {
      isOver = true;
      await Promise.all(talks);
    },
  };
}

/** All messages of the bot that answer a message, in order. Later parts of an answer are recognized only by their text. */
export const shownFor = (platform: ChatPlatform, message: SaidMessage) =>
  platform.replies(message.chat).filter((reply) => !reply.isDeleted && isFor(reply, message));

export function isFor({ reply_to, text }: { reply_to?: string; text: string }, { ids, answers }: SaidMessage): boolean {
  if (reply_to !== undefined) return ids.includes(reply_to);
  const name = /\bm\d+\b/.exec(text)?.[0];
  return answers.some((answer) => answer.split(' ')[0] === name);
}

export const textOf = (messages: readonly { text: string }[]): string =>
  messages
    .map(({ text }) => text)
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

const isOpen = (platform: ChatPlatform, message: SaidMessage): boolean =>
  !message.isRemoved &&
  Date.now() - message.at < forgottenAfterMs &&
  !message.answers.some((answer) => textOf(shownFor(platform, message)).includes(answer));

const pick = <T>(items: readonly T[], random: () => number): T => items[Math.floor(random() * items.length)] as T;
