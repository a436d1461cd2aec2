/** An ordinary character that is not part of base64. */
export const plain = 0;
/** Part of base64, in either alphabet, and so of base32 and hex. */
export const block = 1;
/** Line ends: a wrapped value contains them. */
export const lineBreak = 2;
/** Invisible: zero-width characters, soft hyphens, the zero bytes of UTF-16. */
export const invisible = 3;
/** Begins an escape: backslash, percent sign, ampersand. */
export const opener = 4;

const isBlockChar = /[A-Za-z0-9+/_-]/;
const invisibleRanges = [
  [0x00, 0x00],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xdb40, 0xdb40], // the first half of tags and of further variation selectors
] as const;
export const firstHalfOfTags = 0xdb40;
const lineBreaks = [0x0a, 0x0d, 0x2028, 0x2029];

/** All invisible characters and line ends. */
export const invisibleUnits: readonly number[] = [
  ...invisibleRanges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, at) => from + at)),
  ...lineBreaks,
];

/** The class of every UTF-16 code unit. */
export const unitClasses: Uint8Array = classesOfUnits();

function classesOfUnits(): Uint8Array {
  const classes = new Uint8Array(0x10000);
  for (let unit = 0; unit < 128; unit++) if (isBlockChar.test(String.fromCharCode(unit))) classes[unit] = block;
  for (const [from, to] of invisibleRanges) classes.fill(invisible, from, to + 1);
  for (const unit of lineBreaks) classes[unit] = lineBreak;
  for (const unit of '\\%&') classes[unit.charCodeAt(0)] = opener;
  return classes;
}

/** The value of a hexadecimal digit, 16 for any other unit. */
export const hexValues: Uint8Array = valuesOf('0123456789abcdef', 16);
for (const [at, char] of Array.from('ABCDEF').entries()) hexValues[char.charCodeAt(0)] = 10 + at;

/** Both alphabets of base64 in one; 64 for any other unit. */
export const base64Values: Uint8Array = valuesOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', 64);
base64Values['-'.charCodeAt(0)] = 62;
base64Values['_'.charCodeAt(0)] = 63;

/** 32 for any other unit. */
export const base32Values: Uint8Array = valuesOf('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 32);

/** Only for ASCII units. */
function valuesOf(alphabet: string, other: number): Uint8Array {
  const values = new Uint8Array(128).fill(other);
  for (const [at, char] of Array.from(alphabet).entries()) values[char.charCodeAt(0)] = at;
  return values;
}
