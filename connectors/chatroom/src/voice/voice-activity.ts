/** How a frame changes what is heard: a person begins to speak, or has stopped. */
export type VoiceChange = 'begin' | 'end' | null;

export type VoiceActivity = {
  /** One frame of 16-bit samples, 20 ms each. */
  hear(frame: Buffer): VoiceChange;
  readonly isSpeaking: boolean;
};

/**
 * Levels in dB below full scale. `quietDb`: nothing softer is a voice. `aboveNoiseDb`: so much louder than the noise around it a voice has to be. A voice
 * begins after `beginFrames` and ends after `endFrames` without it: pauses between words are shorter.
 */
const defaults = { quietDb: -50, aboveNoiseDb: 9, beginFrames: 8, endFrames: 35 };
/** What is softer than the noise lowers it at once; what is louder raises it by 1.5 dB a second, so a fan is no voice for long. */
const riseDb = 0.03;
const fall = 0.3;

/** Says by the energy of the sound whether a person speaks. A click is no voice, and a short pause no end. */
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

/** Of full scale, dB; -100 for silence. */
export function levelOf(frame: Buffer): number {
  const samples = Math.floor(frame.length / 2);
  if (samples === 0) return -100;
  let sum = 0;
  for (let at = 0; at < samples; at++) sum += frame.readInt16LE(at * 2) ** 2;
  return Math.max(-100, 10 * Math.log10(sum / samples / 32_768 ** 2));
}
