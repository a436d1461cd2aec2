/** A number with its noun: `1 turn`, `2 turns`, `0 turns`. `many`: an irregular plural. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** A duration in at most two units: `42 s`, `3 min`, `2 h 5 min`, `4 d 1 h`. */
export function duration(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s} s`;
  const min = Math.floor(s / 60);
  if (min < 60) return `${min} min`;
  const h = Math.floor(min / 60);
  return h < 24 ? `${h} h ${min % 60} min` : `${Math.floor(h / 24)} d ${h % 24} h`;
}

/** A duration in one unit, rounded up: `90 s`, `5 min`, `3 h`. */
export function roundedDuration(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  if (minutes < 2) return `${Math.max(1, Math.ceil(ms / 1000))} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A size as people read it: `3.4 MiB`. */
export function inUnits(bytes: number): string {
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  return `${(bytes / 1024 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step]}`;
}
