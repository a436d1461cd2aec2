/** What a microphone heard, as the browser encodes it. */
export type Recording = { stop(): Promise<Blob>; cancel(): void };

const kinds = ['audio/webm;codecs=opus', 'audio/mp4', 'audio/ogg;codecs=opus'];
const maxMs = 5 * 60_000;

/** How loud speech is at least, and how long a silence ends it. */
export type VoiceActivity = { threshold: number; silenceMs: number };

type Options = {
  /** Ends the recording by itself when who spoke is silent; null for as long as a button is held. */
  activity: VoiceActivity | null;
  /** A person has begun to speak. */
  onVoice?: () => void;
  /** Speech was followed by silence, or the longest time is over. */
  onEnd?: () => void;
};

/** @throws what `getUserMedia` throws: there is no microphone, or it is not allowed. */
export async function record({ activity, onVoice, onEnd }: Options): Promise<Recording> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true } });
  const mimeType = kinds.find((kind) => MediaRecorder.isTypeSupported(kind));
  const recorder = new MediaRecorder(stream, mimeType === undefined ? {} : { mimeType });
  const pieces: Blob[] = [];
  recorder.addEventListener('dataavailable', ({ data }) => pieces.push(data));
  recorder.start(250);
  const watch = activity === null ? null : watchVoice(stream, activity, onVoice, onEnd);
  const timer = setTimeout(() => onEnd?.(), maxMs);

  const release = () => {
    clearTimeout(timer);
    watch?.close();
    for (const track of stream.getTracks()) track.stop();
  };
  return {
    async stop() {
      if (recorder.state !== 'inactive') {
        const stopped = new Promise((resolve) => recorder.addEventListener('stop', resolve, { once: true }));
        recorder.stop();
        await stopped;
      }
      release();
      return new Blob(pieces, { type: recorder.mimeType });
    },
    cancel() {
      if (recorder.state !== 'inactive') recorder.stop();
      release();
    },
  };
}

const everyMs = 50;
/** A click of a key is no speech. */
const leastMs = 150;

function watchVoice(stream: MediaStream, { threshold, silenceMs }: VoiceActivity, onVoice?: () => void, onEnd?: () => void) {
  const audio = new AudioContext();
  const analyser = audio.createAnalyser();
  audio.createMediaStreamSource(stream).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  let loudMs = 0;
  let quietMs = 0;
  let hasSpoken = false;
  const timer = setInterval(() => {
    analyser.getFloatTimeDomainData(samples);
    const loudness = Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
    loudMs = loudness > threshold ? loudMs + everyMs : 0;
    quietMs = loudness > threshold ? 0 : quietMs + everyMs;
    if (!hasSpoken && loudMs >= leastMs) {
      hasSpoken = true;
      onVoice?.();
    }
    if (hasSpoken && quietMs >= silenceMs) onEnd?.();
  }, everyMs);
  return {
    close() {
      clearInterval(timer);
      void audio.close();
    },
  };
}
