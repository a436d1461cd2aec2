/** Text to look for, and how many characters follow it in the whole encoding. */
export type EncodedForm = { text: string; more: number };

/** Only the beginning of a long encoding is searched for, because every character costs memory. The rest is masked with it. */
export const longestEncoding = 96;
/** A shorter form could occur by chance. */
const leastForm = 8;
/** More bytes than `longestEncoding` characters of any encoding represent. */
const endBytes = 128;

/**
 * A value as it appears inside base64, base32 and hex of a longer text, forwards and backwards. Plain blocks are decoded where
 * they are found; these patterns find encodings within encodings. Only the ends of a long value are encoded.
 */
export function encodedForms(value: string): EncodedForm[] {
  const bytes = Buffer.from(value.trim(), 'utf8');
  const utf16 = Buffer.from(value.trim(), 'utf16le');
  const forms = [...base64Forms(bytes), ...hexForms(bytes), ...base32Forms(bytes)];
  const wide = [...base64Forms(utf16), ...base64Forms(Buffer.from(utf16).swap16())];
  const lowerBase32 = base32Forms(bytes).map(({ head, length }) => ({ head: head.toLowerCase(), length }));
  const forwards = [...forms, ...wide, ...lowerBase32].map(({ head, length }) => formOf(head, length));
  const backwards = [...forms, ...wide].map(({ tail, length }) => formOf(Array.from(tail).toReversed().join(''), length));
  const all = [...forwards, ...backwards].filter(({ text }) => text.length >= leastForm);
  return [...new Map(all.map((form) => [form.text, form])).values()];
}

const formOf = (text: string, length: number): EncodedForm => ({ text, more: length - text.length });

/** The ends of an encoding, and its length. */
type Ends = { head: string; tail: string; length: number };

type Encoding = { encode(bytes: Buffer): string; bits: number; groupBytes: number };
const hex = { encode: (bytes: Buffer) => bytes.toString('hex'), bits: 4, groupBytes: 1 };
const upperHex = { ...hex, encode: (bytes: Buffer) => bytes.toString('hex').toUpperCase() };
const base64 = { encode: (bytes: Buffer) => bytes.toString('base64'), bits: 6, groupBytes: 3 };
const base64url = { ...base64, encode: (bytes: Buffer) => bytes.toString('base64url') };
const base32 = { encode: toBase32, bits: 5, groupBytes: 5 };

const hexForms = (bytes: Buffer): Ends[] => [hex, upperHex].map((encoding) => ends(encoding, bytes, 0));

/** For each of the three offsets in a group of three bytes, in both alphabets. */
const base64Forms = (bytes: Buffer): Ends[] =>
  [base64, base64url].flatMap((encoding) => [0, 1, 2].map((shift) => ends(encoding, bytes, shift)));

/** For each of the five offsets in a group of five bytes. */
const base32Forms = (bytes: Buffer): Ends[] => [0, 1, 2, 3, 4].map((shift) => ends(base32, bytes, shift));

/** The characters that depend on the value alone: all of their bits are the value's, whatever is around it. */
function ends({ encode, bits, groupBytes }: Encoding, bytes: Buffer, shift: number): Ends {
  const [from, to] = [Math.ceil((shift * 8) / bits), Math.floor(((shift + bytes.length) * 8) / bits)];
  const length = to - from;
  const shown = Math.min(length, longestEncoding);
  const beginning = encode(Buffer.concat([Buffer.alloc(shift), bytes.subarray(0, endBytes)]));
  const groups = Math.max(0, Math.floor((shift + bytes.length - endBytes) / groupBytes));
  const skipped = groups * groupBytes; // whole groups, so that the rest is encoded as it is in the whole
  const end = encode(skipped < shift ? Buffer.concat([Buffer.alloc(shift), bytes]) : bytes.subarray(skipped - shift));
  const endTo = to - ((skipped < shift ? 0 : skipped) * 8) / bits;
  return { head: beginning.slice(from, from + shown), tail: end.slice(endTo - shown, endTo), length };
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function toBase32(bytes: Buffer): string {
  let out = '';
  let bits = 0;
  let count = 0;
  for (const byte of bytes) {
    bits = ((bits << 8) | byte) & 0xffff;
    for (count += 8; count >= 5; count -= 5) out += alphabet[(bits >>> (count - 5)) & 31];
  }
  return count === 0 ? out : out + alphabet[(bits << (5 - count)) & 31];
}
