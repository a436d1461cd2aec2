/** A change caused by a frame: a person begins to speak, or has stopped. */
export type VoiceChange = 'begin' | 'end' | null;

export type VoiceActivity = {
  /** Analyses one frame of 16-bit samples, 20 ms long. */
  hear(frame: Buffer): VoiceChange;
  readonly isSpeaking: boolean;
};

/**
 * Levels in dB below full scale. `quietDb`: anything softer is not a voice. `aboveNoiseDb`: how much louder than the background noise a
 * voice must be. A voice begins after `beginFrames` frames with it and ends after `endFrames` without it: pauses between words are shorter.
 */
const defaults = { quietDb: -50, aboveNoiseDb: 9, beginFrames: 8, endFrames: 35 };
/** Softer sound lowers the noise level at once; louder sound raises it by 1.5 dB a second, so a fan does not count as a voice for long. */
const riseDb = 0.03;
const fall = 0.3;

/** Detects speech by the energy of the sound. A click is not a voice, and a short pause not its end. */
export function createVoiceActivity(options: Partial<typeof defaults> = {}): VoiceActivity {
  const { quietDb, aboveNoiseDb, beginFrames, endFrames } = { ...defaults, ...options };
  let noiseDb = quietDb;
  let isSpeaking = false;
  let voiced = 0;
  let silent = 0;

  const isVoice = (frame: Buffer): boolean => {
    const level = levelOf(frame);
    const is = level > quietDb && level > noiseDb + aboveNoiseDb;
    noiseDb = level < noiseDb ? Math.max(quietDb - 20, noiseDb + fall * (level - noiseDb)) : Math.min(level, noiseDb + riseDb);
    return is;
  };

  return {
    hear(frame) {
      const is = isVoice(frame);
      voiced = is ? Math.min(voiced + 1, beginFrames) : Math.max(voiced - 1, 0);
      silent = is ? 0 : silent + 1;
      if (!isSpeaking && voiced === beginFrames) {
        isSpeaking = true;
        return 'begin';
      }
      if (!isSpeaking || silent < endFrames) return null;
      isSpeaking = false;
      voiced = 0;
      return 'end';
    },
    get isSpeaking() {
      return isSpeaking;
    },
  };
}

/** Level relative to full scale, dB; -100 for silence. */
export function levelOf(frame: Buffer): number {
  const samples = Math.floor(frame.length / 2);
  if (samples === 0) return -100;
  let sum = 0;
  for (let at = 0; at < samples; at++) sum += frame.readInt16LE(at * 2) ** 2;
  return Math.max(-100, 10 * Math.log10(sum / samples / 32_768 ** 2));
}
