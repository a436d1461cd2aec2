import { bytesOf, createFramer, frameMs, heardFormat } from './sound.ts';
import { createVoiceActivity, type VoiceActivity } from './voice-activity.ts';

export type UtteranceHandlers = {
  /** A person has spoken for long enough to be sure of it. */
  onBegin(): void;
  /** An utterance, from shortly before its beginning. `isCut`: it continues in the next one. */
  onUtterance(pcm: Buffer, isCut: boolean): void;
};

export type Utterances = {
  /** Receives sound as it arrives. */
  push(pcm: Buffer): void;
  /** The sound has ended, and with it the current utterance. */
  end(): void;
};

/** `beforeMs`: sound kept during silence, because a voice is recognized only after it has begun. */
type Limits = { maxMs: number; beforeMs: number };
const defaults: Limits = { maxMs: 60_000, beforeMs: 400 };

/** Finds the utterances in the sound of one speaker. Holds at most the longest utterance. */
export function createUtterances(
  { onBegin, onUtterance }: UtteranceHandlers,
  { maxMs, beforeMs, activity = createVoiceActivity() }: Partial<Limits> & { activity?: VoiceActivity } = {},
): Utterances {
  const longest = Math.max(1, Math.floor((maxMs ?? defaults.maxMs) / frameMs));
  const before = Math.floor((beforeMs ?? defaults.beforeMs) / frameMs);
  const framer = createFramer(bytesOf(heardFormat, frameMs));
  let frames: Buffer[] = [];

  const give = (isCut: boolean) => {
    const said = Buffer.concat(frames);
    frames = [];
    if (said.length > 0) onUtterance(said, isCut);
  };
  const hear = (frame: Buffer) => {
    // A copy: the frame may be a view of a larger buffer, which would stay in memory as long.
    frames.push(Buffer.from(frame));
    const change = activity.hear(frame);
    if (change === 'begin') onBegin();
    if (change === 'end') return give(false);
    if (!activity.isSpeaking && frames.length > before) frames.shift();
    if (activity.isSpeaking && frames.length >= longest) give(true);
  };

  return {
    push: (pcm) => framer.push(pcm).forEach(hear),
    end() {
      const last = framer.end();
      if (last !== null) hear(last);
      const silence = Buffer.alloc(bytesOf(heardFormat, frameMs));
      // The platform sends nothing while nobody speaks, so the rest of the pause is generated here, up to the length of a pause.
      for (let n = 0; activity.isSpeaking && n < 500; n++) hear(silence);
      frames = [];
    },
  };
}
