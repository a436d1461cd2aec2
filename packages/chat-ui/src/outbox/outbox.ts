import { createBackOff } from '../stream/back-off.ts';
import { clear, createStore, del, entries, get, set, type UseStore, values } from 'idb-keyval';

/** A file of a message: its bytes while it waits here, and its path on the server after the upload. */
export type OutgoingFile = {
  name: string;
  mime: string;
  blob: Blob | null;
  path: string | null;
  /** Id of a chunked upload that has started. */
  upload_id?: string | null;
};

/** A message that the server has not accepted yet. Its id is made before the first attempt and stays the same. */
export type Outgoing = {
  message_id: string;
  conversation_key: string | null;
  text: string;
  files: OutgoingFile[];
  speak: boolean;
  /** Ends the turn in flight first. */
  interrupt?: boolean;
  at: number;
  /** Why the server refused it; null while it is still to be sent. */
  refused: string | null;
};

/**
 * `again`: a temporary problem, retry later. `refused`: the message as it is will never be accepted. `signed-out`: the device
 * must be paired again first.
 */
export type Sent =
  | { status: 'accepted'; turn_id: string | null; conversation_key: string }
  | { status: 'again' }
  | { status: 'refused'; reason: string }
  | { status: 'signed-out' };

type Options = {
  /** Of the gateway: a device that is paired again sends its waiting messages; one that its user signed out has none left. */
  name: string;
  send(outgoing: Outgoing): Promise<Sent>;
  onChange(outgoing: Outgoing, sent: Sent): void;
};

/**
 * Unsent messages, stored in the browser's database: a closed tab, an empty battery or a missing network neither loses nor
 * repeats one.
 */
export class Outbox {
  #store: UseStore;
  #options: Options;
  #backOff = createBackOff();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(options: Options) {
    this.#options = options;
    this.#store = storeOf(options.name);
    addEventListener('online', this.#retry);
    document.addEventListener('visibilitychange', this.#retry);
  }

  /** In the order they were written. */
  async list(): Promise<Outgoing[]> {
    const all = await values<unknown>(this.#store);
    return all.filter(isWhole).toSorted((one, other) => one.at - other.at);
  }

  /** Keeps the message, then sends it: once this has resolved, it is not lost. */
  async add(outgoing: Outgoing): Promise<void> {
    await set(outgoing.message_id, outgoing, this.#store);
    this.#retry();
  }

  /** False when the message is no longer here: it was accepted, or taken back in another tab. */
  async tryAgain(messageId: string): Promise<boolean> {
    const isHere = await navigator.locks.request(this.#lock, async () => {
      const outgoing = await get<Outgoing>(messageId, this.#store);
      if (outgoing === undefined) return false;
      await set(messageId, { ...outgoing, refused: null }, this.#store);
      return true;
    });
    this.#retry();
    return isHere;
  }

  /** Removes and returns the message for editing; undefined when it was accepted in the meantime. */
  async take(messageId: string): Promise<Outgoing | undefined> {
    return await navigator.locks.request(this.#lock, async () => {
      const outgoing = await get<Outgoing>(messageId, this.#store);
      await del(messageId, this.#store);
      return outgoing;
    });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    removeEventListener('online', this.#retry);
    document.removeEventListener('visibilitychange', this.#retry);
  }

  get #lock(): string {
    return `svc-outbox-${this.#options.name}`;
  }

  #retry = (): void => {
    this.#backOff.reset();
    void this.drain();
  };

  /** Sends the waiting messages one after the other, in one tab at a time. */
  async drain(): Promise<void> {
    clearTimeout(this.#timer);
    const left = await navigator.locks.request(this.#lock, () => this.#sendAll());
    if (!left || this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.drain(), this.#backOff.next());
  }

  /** Whether something is to be tried again. */
  async #sendAll(): Promise<boolean> {
    await this.#dropBroken();
    for (const outgoing of await this.list()) {
      if (this.#closed) return false;
      if (outgoing.refused !== null) continue;
      const sent = await this.#options.send(outgoing);
      if (sent.status === 'accepted') await del(outgoing.message_id, this.#store);
      if (sent.status === 'refused') await set(outgoing.message_id, { ...outgoing, refused: sent.reason }, this.#store);
      this.#options.onChange(outgoing, sent);
      // Later messages wait: they were written after this one and may refer to it.
      if (sent.status === 'again' || sent.status === 'signed-out') return sent.status === 'again';
    }
    return false;
  }

  /** What is no message could never be sent, and would keep those behind it from being sent. */
  async #dropBroken(): Promise<void> {
    for (const [key, kept] of await entries(this.#store)) if (!isWhole(kept)) await del(key, this.#store);
  }

  /** So that a file is sent once, however often the message is. */
  async keep(outgoing: Outgoing): Promise<void> {
    await set(outgoing.message_id, outgoing, this.#store);
  }
}

const isWhole = (kept: unknown): kept is Outgoing => {
  const { message_id, text, files, at } = (kept ?? {}) as Partial<Record<keyof Outgoing, unknown>>;
  return typeof message_id === 'string' && typeof text === 'string' && Array.isArray(files) && typeof at === 'number';
};

const storeOf = (name: string): UseStore => createStore(`svc-outbox-${name}`, 'messages');

/** Removes what waits, for good. */
export const clearOutbox = (name: string): Promise<void> => clear(storeOf(name));
