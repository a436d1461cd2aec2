import type { SpokenReply } from './spoken-reply.ts';

/** Plays one sound at a time. */
export type Player = {
  /** `done` resolves when the sound was played or stopped; never rejects. */
  play(sound: AsyncIterable<Buffer>): { done: Promise<void>; stop(): void };
};

/** The turn whose reply is spoken. */
export type SpokenTurn = {
  reply: SpokenReply;
  /** The person who asked. */
  speaker: string;
  /** The turn has ended, so there is nothing to abort. */
  hasEnded: boolean;
};

/** Speaks the assistant's replies in a room: one after the other, not while a person speaks, and no further once interrupted. */
export type SpeechLine = {
  /** False when too many are waiting: this reply is only shown. */
  say(turn: SpokenTurn): boolean;
  /** A person speaks. Stops the current speech; returns the turns that were cut off and still run. */
  interrupt(): SpokenTurn[];
  readonly isSpeaking: boolean;
  close(): void;
};

type Deps = {
  player: Player;
  /** Resolves when nobody speaks. */
  quiet(): Promise<void>;
  maxWaiting?: number;
};

export function createSpeechLine({ player, quiet, maxWaiting = 4 }: Deps): SpeechLine {
  const waiting: SpokenTurn[] = [];
  let current: { turn: SpokenTurn; stop: (() => void) | null } | null = null;
  let isClosed = false;

  async function run(): Promise<void> {
    for (let turn = waiting.shift(); turn !== undefined && !isClosed; turn = waiting.shift()) {
      const now: NonNullable<typeof current> = { turn, stop: null };
      current = now;
      await play(now);
      current = null;
    }
  }

  async function play(now: NonNullable<typeof current>): Promise<void> {
    const sound = now.turn.reply.sound();
    // Waits here for the first part: a reply whose text is still missing is not being spoken, so it cannot be interrupted.
    const first = await sound.next();
    if (first.done === true) return;
    await quiet();
    if (isClosed) return void (await sound.return());
    const playing = player.play(after(first.value, sound));
    now.stop = playing.stop;
    await playing.done;
  }

  return {
    say(turn) {
      if (isClosed || waiting.length >= maxWaiting) {
        turn.reply.stop();
        return false;
      }
      waiting.push(turn);
      if (current === null) void run();
      return true;
    },
    interrupt() {
      if (current === null || current.stop === null) return [];
      const cut = [current.turn, ...waiting.splice(0)];
      current.stop();
      cut.forEach(({ reply }) => reply.stop());
      return cut.filter(({ hasEnded }) => !hasEnded);
    },
    get isSpeaking() {
      return current !== null && current.stop !== null;
    },
    close() {
      isClosed = true;
      const all = [...(current === null ? [] : [current.turn]), ...waiting.splice(0)];
      current?.stop?.();
      all.forEach(({ reply }) => reply.stop());
    },
  };
}

async function* after(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  yield first;
  yield* rest;
}
