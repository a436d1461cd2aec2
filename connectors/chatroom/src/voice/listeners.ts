import { createUtterances, type Utterances } from './utterances.ts';

/** Receives the sound of one person as it arrives. */
export type Ear = { push(pcm: Buffer): void; end(): void };

/** Who is heard in a room, and what each of them says. */
export type Listeners = {
  /** Null when too many speak at once. A person who is already heard gets the same ear. */
  listen(user: string): Ear | null;
  /** Resolves when nobody speaks, or after a while, because some rooms are never quiet. */
  quiet(): Promise<void>;
  close(): void;
};

type Deps = {
  onBegin(user: string): void;
  onUtterance(user: string, pcm: Buffer): void;
  maxSpeakers?: number;
  after(ms: number, then: () => void): () => void;
};

/** How long a reply waits for a pause in the conversation, ms. */
const longestQuietMs = 8000;

export function createListeners({ onBegin, onUtterance, maxSpeakers = 8, after }: Deps): Listeners {
  const ears = new Map<string, Ear>();
  const speaking = new Set<string>();
  let silence = Promise.withResolvers<void>();

  const fell = (user: string): void => {
    speaking.delete(user);
    if (speaking.size > 0) return;
    silence.resolve();
    silence = Promise.withResolvers();
  };
  const open = (user: string): Utterances =>
    createUtterances({
      onBegin() {
        speaking.add(user);
        onBegin(user);
      },
      onUtterance(pcm, isCut) {
        if (!isCut) fell(user);
        onUtterance(user, pcm);
      },
    });

  return {
    listen(user) {
      const known = ears.get(user);
      if (known !== undefined) return known;
      if (ears.size >= maxSpeakers) return null;
      const utterances = open(user);
      const ear: Ear = {
        push: utterances.push,
        end() {
          if (ears.get(user) !== ear) return;
          ears.delete(user);
          utterances.end();
          fell(user);
        },
      };
      ears.set(user, ear);
      return ear;
    },
    async quiet() {
      if (speaking.size === 0) return;
      const late = Promise.withResolvers<void>();
      const cancel = after(longestQuietMs, late.resolve);
      await Promise.race([silence.promise, late.promise]);
      cancel();
    },
    close() {
      ears.clear();
      speaking.clear();
      silence.resolve();
    },
  };
}
