import { randomUUID } from 'node:crypto';
import { ServiceError } from '@svc/connector-kit';
import type { Update } from '../platform-api.ts';

type Message = { id: string; chat: string; from: 'bot' | 'user'; text: string; nonce?: string };
type File = { name: string; mime: string; bytes: Buffer };

/** Only the newest of each are kept. */
const limits = { messages: 1000, updates: 1000, files: 20 };
/** The bot counts as finished when it has changed nothing for this long, ms. */
const calmMs = 800;

/** Chats in memory, each between one user and the bot. */
export type PracticeChats = {
  /** The updates after `after`, at once or when there is one. Forgets all up to `after`. */
  updates(after: number, waitMs: number, signal: AbortSignal): Promise<Update[]>;
  /** Sends a message as a user. Returns the bot's answer when it seems to be complete, after 10 s at the latest. */
  say(user: string, text: string, file?: File): Promise<string[]>;
  /** Posts a message of the bot. A known nonce returns the existing message. */
  post(message: { chat: string; text: string; nonce?: string }): Message;
  /** @throws ServiceError when the message no longer exists */
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
