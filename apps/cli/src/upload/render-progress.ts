import type { UploadProgress } from './upload-file.ts';

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A size as people read it: `3.4 MiB`. */
export function inUnits(bytes: number): string {
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  return `${(bytes / 1024 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step]}`;
}

/** `42 %  1.2 GiB of 2.9 GiB  85.0 MiB/s  20 s left`. */
export function renderProgress({ sent, size, resumedAt }: UploadProgress, elapsedMs: number): string {
  const rate = elapsedMs > 0 ? ((sent - resumedAt) / elapsedMs) * 1000 : 0;
  const left = rate > 0 ? `  ${inTime((size - sent) / rate)} left` : '';
  const speed = rate > 0 ? `  ${inUnits(rate)}/s` : '';
  return `${Math.floor((100 * sent) / size)} %  ${inUnits(sent)} of ${inUnits(size)}${speed}${sent < size ? left : ''}`;
}

function inTime(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 90 * 60 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
