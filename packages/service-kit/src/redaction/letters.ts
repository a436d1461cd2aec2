/** Letters and diacritics beyond ASCII of scripts that separate words by spaces: first and last unit of each range. */
const ranges = [
  [0xc0, 0xd6], // Latin
  [0xd8, 0xf6],
  [0xf8, 0x2af],
  [0x300, 0x37d], // marks, Greek
  [0x386, 0x386],
  [0x388, 0x52f], // Greek, Cyrillic
  [0x531, 0x556], // Armenian
  [0x561, 0x587],
  [0x5d0, 0x5ea], // Hebrew
  [0x620, 0x65f], // Arabic
  [0x671, 0x6d3],
  [0x900, 0x963], // scripts of India
  [0x966, 0xdff],
  [0x10a0, 0x10ff], // Georgian
  [0x1e00, 0x1fff], // Latin, Greek
] as const;

/** The same ranges as the inside of a character class. */
export const letterClass = ranges
  .map((range) => range.map((unit) => String.raw`\u${unit.toString(16).padStart(4, '0')}`).join('-'))
  .join('');

const end = 0x2000;
const letters = new Uint8Array(end);
for (const [from, to] of ranges) letters.fill(1, from, to + 1);

/** True for such a letter: words of mail addresses may contain them, tokens do not. */
export const isLetterBeyond = (unit: number): boolean => unit >= 0xc0 && unit < end && letters[unit] === 1;
