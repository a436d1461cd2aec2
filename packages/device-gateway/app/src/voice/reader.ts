import type { Gateway } from '../gateway.ts';
import { Sentences } from './sentences.ts';

/** Reads aloud, sentence after sentence: while one is heard, the next is fetched. */
export type Reader = {
  /** A reply that grows; the same `id` goes on where it was. */
  follow(id: string, text: string, isOver: boolean): void;
  say(text: string): void;
  /** Whoever speaks is listened to: silence at once, and what was not said stays unsaid. */
  stop(): void;
  close(): void;
};

type Options = {
  gateway: Pick<Gateway, 'tts'>;
  voice: string | null;
  onSpeaking(speaks: boolean): void;
  onFault(words: string): void;
};

export function createReader({ gateway, voice, onSpeaking, onFault }: Options): Reader {
  let queue: string[] = [];
  /** The next one, while another is heard. */
  let ahead: Promise<Blob | null> | null = null;
  /** Aborts with the silence. */
  let silence = new AbortController();
  let reply: { id: string; sentences: Sentences } | null = null;
  let silenced: string | null = null;
  let player: HTMLAudioElement | null = null;
  let isPlaying = false;

  const add = (sentence: string) => {
    queue.push(sentence);
    if (player !== null) lookAhead();
    void playAll();
  };

  function fetchNext(): Promise<Blob | null> | null {
    const sentence = queue.shift();
    if (sentence === undefined) return null;
    const { signal } = silence;
    return gateway.tts(sentence, voice, signal).catch((error: unknown) => {
      if (!signal.aborted) onFault(error instanceof Error ? `Could not read aloud: ${error.message}` : 'Could not read aloud.');
      return null;
    });
  }
  const lookAhead = () => void (ahead ??= fetchNext());

  async function playAll(): Promise<void> {
    if (isPlaying) return;
    isPlaying = true;
    onSpeaking(true);
    for (let next = fetchNext(); next !== null; next = ahead ?? fetchNext()) {
      ahead = null;
      const { signal } = silence;
      const audio = await next;
      // Silenced while it was fetched.
      if (audio === null || signal.aborted) continue;
      lookAhead();
      await play(audio);
    }
    isPlaying = false;
    onSpeaking(false);
  }

  async function play(audio: Blob): Promise<void> {
    const url = URL.createObjectURL(audio);
    const element = new Audio(url);
    player = element;
    const over = new Promise<void>((resolve) => {
      for (const event of ['ended', 'error', 'pause']) element.addEventListener(event, () => resolve(), { once: true });
    });
    try {
      await element.play();
      await over;
    } catch {
      onFault('The browser plays no sound until you tap or click the page.');
    } finally {
      URL.revokeObjectURL(url);
      player = null;
    }
  }

  const stop = () => {
    queue = [];
    ahead = null;
    silence.abort();
    silence = new AbortController();
    silenced = reply?.id ?? null;
    player?.pause();
  };
  return {
    follow(id, text, isOver) {
      if (id === silenced) return;
      if (reply?.id !== id) reply = { id, sentences: new Sentences() };
      for (const sentence of reply.sentences.take(text, isOver)) add(sentence);
    },
    say(text) {
      stop();
      for (const sentence of new Sentences().take(text, true)) add(sentence);
    },
    stop,
    close: stop,
  };
}
