import { bytesOf, createFramer, frameMs, heardFormat } from './sound.ts';
import { createVoiceActivity, type VoiceActivity } from './voice-activity.ts';

export type UtteranceHandlers = {
  /** A person speaks, for as long as it takes to be sure of it. */
  onBegin(): void;
  /** What was said, from a little before it began. `isCut`: it goes on in the next one. */
  onUtterance(pcm: Buffer, isCut: boolean): void;
};

export type Utterances = {
  /** Sound as it comes. */
  push(pcm: Buffer): void;
  /** No more of it comes: what is being said ends here. */
  end(): void;
};

/** `beforeMs`: sound that is kept while nobody speaks. A voice is only known for one when it has begun. */
type Limits = { maxMs: number; beforeMs: number };
const defaults: Limits = { maxMs: 60_000, beforeMs: 400 };

/** Finds in the sound of one speaker what they say. Holds no more than the longest utterance. */
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
    // A copy: the frame may be a view of a larger piece, which would be held as long.
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
      // The platform sends nothing while nobody speaks, so the rest of the pause is made here. Bounded by the length of a pause.
      for (let n = 0; activity.isSpeaking && n < 500; n++) hear(silence);
      frames = [];
    },
  };
}
