import type { VoiceConnection } from '@discordjs/voice';
import { errorText, type Clock, type StartContext } from '@svc/connector-kit';
import type { Ear } from './listeners.ts';
import { createOpusDecoder } from './opus-codec.ts';
import type { VoicePackages } from './voice-packages.ts';

type Deps = {
  packages: VoicePackages;
  connection: Pick<VoiceConnection, 'receiver'>;
  /** Null for a person who is not heard. */
  listen(user: string): Promise<Ear | null>;
  clock: Clock;
  log: StartContext['log'];
  /** Aborts when the connection is given up. */
  signal: AbortSignal;
};

/** The platform sends nothing while a person is silent. An utterance ends after this pause, ms. */
const pauseMs = 500;
const lookEveryMs = 100;
/** Packets kept until it is known whether a person is heard: 2 s. */
const maxKept = 100;

/** Passes the sound of a voice channel to the ears of its speakers, as long as the connection lives. */
export function listenOn({ packages, connection: { receiver }, listen, clock, log, signal }: Deps): void {
  const open = new Set<string>();

  async function hear(user: string): Promise<void> {
    const kept: Buffer[] = [];
    let take = (packet: Buffer): void => void (kept.length < maxKept && kept.push(packet));
    const { ended, end } = follow(user, (packet) => take(packet));
    const ear = await listen(user);
    if (ear === null) return end();
    const decoder = createOpusDecoder(packages.Opus);
    take = (packet) => {
      const pcm = decoder.decode(packet);
      if (pcm !== null) ear.push(pcm);
    };
    kept.forEach(take);
    await ended;
    ear.end();
    decoder.close();
  }

  /** `ended` resolves after a pause. An unreadable packet ends a stream of the library; another stream then continues. */
  function follow(user: string, take: (packet: Buffer) => void): { ended: Promise<void>; end(): void } {
    const ended = Promise.withResolvers<void>();
    let last = clock.elapsed();
    let isOver = false;
    let stream = subscribe();
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      stopLooking();
      signal.removeEventListener('abort', end);
      stream.destroy();
      ended.resolve();
    };
    const stopLooking = clock.every(lookEveryMs, () => void (clock.elapsed() - last > pauseMs && end()));
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    return { ended: ended.promise, end };

    function subscribe() {
      const next = receiver.subscribe(user, { end: { behavior: packages.voice.EndBehaviorType.Manual } });
      next.on('data', (packet: Buffer) => {
        last = clock.elapsed();
        take(packet);
      });
      next.on('error', (error) => log('debug', 'an audio packet could not be decoded', { error: errorText(error) }));
      next.once('close', () => void (!isOver && (stream = subscribe())));
      return next;
    }
  }

  receiver.speaking.on('start', (user) => {
    if (open.has(user) || signal.aborted) return;
    open.add(user);
    hear(user)
      .catch((error: unknown) => log('warn', 'the audio of a person cannot be received', { user, error: errorText(error) }))
      .finally(() => open.delete(user));
  });
}
