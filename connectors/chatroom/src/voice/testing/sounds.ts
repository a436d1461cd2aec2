import { frameMs, heardFormat } from '../sound.ts';

const samples = (heardFormat.rate / 1000) * frameMs;

/** Frames of a hum with the level `db` below full scale; -100 is silence. */
export function framesOf(db: number, count = 1): Buffer[] {
  const peak = db <= -100 ? 0 : 32_767 * Math.SQRT2 * 10 ** (db / 20);
  const frame = Buffer.alloc(samples * 2);
  for (let at = 0; at < samples; at++) {
    const value = Math.round(peak * Math.sin((2 * Math.PI * 200 * at) / heardFormat.rate));
    frame.writeInt16LE(Math.max(-32_768, Math.min(32_767, value)), at * 2);
  }
  return Array.from({ length: count }, () => Buffer.from(frame));
}

export const voice = (count: number): Buffer[] => framesOf(-20, count);
export const silence = (count: number): Buffer[] => framesOf(-100, count);
