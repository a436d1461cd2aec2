import { Readable } from 'node:stream';
import type { VoiceConnection } from '@discordjs/voice';
import type { StartContext } from '@svc/connector-kit';
import { errorText } from '@svc/connector-kit';
import { encodeOpus } from './opus-codec.ts';
import type { Player } from './speech-line.ts';
import type { VoicePackages } from './voice-packages.ts';

/** How long to wait for speech that is produced too slowly, in packets of 20 ms. */
const longestGap = 500;
/** Packets that are produced before they are due. */
const madeAhead = 10;

/** Plays sound in a voice channel. */
export function createDiscordPlayer(
  { voice, Opus }: VoicePackages,
  connection: VoiceConnection,
  log: StartContext['log'],
): Player & { close(): void } {
  const player = voice.createAudioPlayer({
    behaviors: { noSubscriber: voice.NoSubscriberBehavior.Pause, maxMissedFrames: longestGap },
  });
  player.on('error', (error) => log('warn', 'audio could not be played', { error: errorText(error) }));
  connection.subscribe(player);

  return {
    play(sound) {
      const packets = Readable.from(encodeOpus(Opus, sound), { objectMode: true, highWaterMark: madeAhead });
      const played = Promise.withResolvers<void>();
      const onIdle = () => played.resolve();
      player.once(voice.AudioPlayerStatus.Idle, onIdle);
      player.play(voice.createAudioResource(packets, { inputType: voice.StreamType.Opus }));
      return { done: played.promise, stop: () => void player.stop(true) };
    },
    close: () => void player.stop(true),
  };
}
