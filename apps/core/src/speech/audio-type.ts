/** An audio encoding known to providers. `bitsPerSecond` is its usual bit rate. */
export type AudioType = { name: string; extension: string; bitsPerSecond: number };

const type = (name: string, extension: string, kilobits: number): AudioType => ({
  name,
  extension,
  bitsPerSecond: kilobits * 1000,
});

const ogg = type('ogg', 'ogg', 32);
const webm = type('webm', 'webm', 64);
const mp3 = type('mp3', 'mp3', 128);
const m4a = type('m4a', 'm4a', 96);
const aac = type('aac', 'aac', 96);
/** The fallback for a broken header: 16,000 samples of 16 bits per second. */
const wav = type('wav', 'wav', 256);
const flac = type('flac', 'flac', 512);
const amr = type('amr', 'amr', 12.8);
const amrWide = type('amr-wb', 'amr', 23.85);

/** Video containers count as audio, because phones and browsers use their types for speech. */
const byMime: Record<string, AudioType> = {
  'audio/ogg': ogg,
  'audio/opus': ogg,
  'audio/vorbis': ogg,
  'application/ogg': ogg,
  'video/ogg': ogg,
  'audio/webm': webm,
  'video/webm': webm,
  'audio/mpeg': mp3,
  'audio/mp3': mp3,
  'audio/mpeg3': mp3,
  'audio/mp4': m4a,
  'audio/m4a': m4a,
  'audio/x-m4a': m4a,
  'audio/mp4a-latm': m4a,
  'video/mp4': m4a,
  'video/quicktime': m4a,
  'audio/aac': aac,
  'audio/aacp': aac,
  'audio/x-aac': aac,
  'audio/wav': wav,
  'audio/wave': wav,
  'audio/x-wav': wav,
  'audio/vnd.wave': wav,
  'audio/flac': flac,
  'audio/x-flac': flac,
  'audio/amr': amr,
  'audio/3gpp': amr,
  'video/3gpp': amr,
  'audio/amr-wb': amrWide,
};

/** The encoding of the MIME type `type/subtype`; null when it is not a known audio type. */
export const audioTypeOf = (mime: string): AudioType | null => (Object.hasOwn(byMime, mime) ? (byMime[mime] ?? null) : null);

/** The encoding found in the first bytes, for a clip without a type. */
export function audioTypeOfBytes(bytes: Buffer): AudioType | null {
  const text = bytes.toString('latin1', 0, 12);
  if (text.startsWith('OggS')) return ogg;
  if (text.startsWith('RIFF') && text.endsWith('WAVE')) return wav;
  if (text.startsWith('fLaC')) return flac;
  if (text.startsWith('#!AMR-WB')) return amrWide;
  if (text.startsWith('#!AMR')) return amr;
  if (text.slice(4, 8) === 'ftyp') return m4a;
  if (text.startsWith('\x1A\x45\xDF\xA3')) return webm;
  if (text.startsWith('ID3')) return mp3;
  const [first = 0, second = 0] = bytes;
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return null;
  return (second & 0x06) === 0 ? aac : mp3;
}

export const knownAudio = 'ogg, opus, webm, mp3, m4a, aac, wav, flac and amr';
