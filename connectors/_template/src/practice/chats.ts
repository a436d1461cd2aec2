import { randomUUID } from 'node:crypto';
import { ServiceError } from '@svc/connector-kit';
import type { Update } from '../platform-api.ts';

type Message = { id: string; chat: string; from: 'bot' | 'user'; text: string; nonce?: string };
type File = { name: string; mime: string; bytes: Buffer };

/** The newest of each are kept. */
const limits = { messages: 1000, updates: 1000, files: 20 };
/** The bot is done when it has changed nothing for so long, ms. */
const calmMs = 800;

/** Chats in memory, each of one user and the bot. */
export type PracticeChats = {
  /** What came after an update, at once or when there is something. What was passed is forgotten. */
  updates(after: number, waitMs: number, signal: AbortSignal): Promise<Update[]>;
  /** Says it as a user, and gives what the bot shows of its answer when that seems to be whole, at the latest after 10 s. */
  say(user: string, text: string, file?: File): Promise<string[]>;
  /** A message of the bot. One with a nonce that is known is the message that is there. */
  post(message: { chat: string; text: string; nonce?: string }): Message;
  /** @throws ServiceError when it is not there any more. */
  edit(id: string, text: string): void;
  remove(id: string): void;
  file(id: string): File;
  in(chat: string): Message[];
};

export function createPracticeChats(): PracticeChats {
  const files = new Map<string, File>();
  const changes = new EventTarget();
  let messages: Message[] = [];
  let updates: Update[] = [];
  let last = 0;

  const changed = () => void changes.dispatchEvent(new Event('change'));
  const nextChange = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        changes.removeEventListener('change', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      changes.addEventListener('change', end);
    });
  const add = (message: Omit<Message, 'id'>): Message => {
    const added = { id: String(++last), ...message };
    messages = [...messages, added].slice(-limits.messages);
    changed();
    return added;
  };
  const keep = ({ name, mime, bytes }: File) => {
    const id = randomUUID();
    files.set(id, { name, mime, bytes });
    for (const oldest of files.keys()) if (files.size > limits.files) files.delete(oldest);
    return { id, name, mime };
  };
  const find = (id: string): Message => {
    const message = messages.find((one) => one.id === id && one.from === 'bot');
    if (message === undefined) throw new ServiceError('not_found', 'The bot has no such message.');
    return message;
  };

  return {
    async updates(after, waitMs, signal) {
      updates = updates.filter(({ id }) => id > after);
      const until = performance.now() + waitMs;
      while (updates.length === 0 && performance.now() < until && !signal.aborted)
        await nextChange(Math.min(until - performance.now(), 1000));
      return updates;
    },
    async say(user, text, file) {
      const { id } = add({ chat: user, from: 'user', text });
      const update = {
        id: Number(id),
        kind: 'message',
        chat: user,
        user,
        message_id: id,
        text,
        ...(file && { file: keep(file) }),
      };
      updates = [...updates, update as Update].slice(-limits.updates);
      changed();
      const shown = () => messages.filter((one) => one.chat === user && one.from === 'bot' && Number(one.id) > Number(id));
      const until = performance.now() + 10_000;
      while (shown().length === 0 && performance.now() < until) await nextChange(until - performance.now());
      for (let before = ''; before !== JSON.stringify(shown()) && performance.now() < until;) {
        before = JSON.stringify(shown());
        await nextChange(calmMs);
      }
      return shown().map((one) => one.text);
    },
    post: (message) =>
      messages.find(({ nonce }) => nonce !== undefined && nonce === message.nonce) ?? add({ ...message, from: 'bot' }),
    edit(id, text) {
      find(id).text = text;
      changed();
    },
    remove(id) {
      const gone = find(id);
      messages = messages.filter((message) => message !== gone);
      changed();
    },
    file(id) {
      const file = files.get(id);
      if (file === undefined) throw new ServiceError('not_found', 'There is no such file.');
      return file;
    },
    in: (chat) => messages.filter((message) => message.chat === chat),
  };
}
