import { encode } from 'uqr';

/** The dark squares of the QR code of a text, as a path in a box of `size`. */
export function qrPath(text: string): { path: string; size: number } {
  const { data, size } = encode(text, { border: 2 });
  const squares = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return { path: squares.join(''), size };
}
