/** What a person sets for speech on one device; the gateway keeps it. */
export type VoiceConfig = { language?: string; voice?: string; hands_free?: boolean; read_aloud?: boolean };

/** What the gateway's theme says of speech. */
export type VoiceTheme = { voice_activity?: { threshold?: number; silence_ms?: number }; stop_phrases?: readonly string[] };

const usualActivity = { threshold: 0.02, silenceMs: 1200 };

export const activityOf = ({ voice_activity }: VoiceTheme) => ({
  threshold: voice_activity?.threshold ?? usualActivity.threshold,
  silenceMs: voice_activity?.silence_ms ?? usualActivity.silenceMs,
});

/** Whether what was said is nothing but a word to stop. */
export function isStopPhrase(text: string, { stop_phrases = [] }: VoiceTheme): boolean {
  const bare = (words: string) =>
    words
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} ]/gu, '')
      .trim();
  return stop_phrases.some((phrase) => bare(phrase) === bare(text));
}
