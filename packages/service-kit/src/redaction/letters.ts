type Range = readonly [from: number, to: number];

/** Letters and diacritics beyond ASCII of scripts that separate words by spaces: first and last unit of each range. */
const spaced: readonly Range[] = [
  [0xc0, 0xd6], // Latin
  [0xd8, 0xf6],
  [0xf8, 0x2af],
  [0x300, 0x37d], // marks, Greek
  [0x386, 0x386],
  [0x388, 0x52f], // Greek, Cyrillic
  [0x531, 0x556], // Armenian
  [0x561, 0x587],
  [0x5d0, 0x5ea], // Hebrew
  [0x620, 0x669], // Arabic, its digits
  [0x66e, 0x6d3],
  [0x6d5, 0x6dc],
  [0x6ee, 0x6ff],
  [0x750, 0x77f],
  [0x900, 0x963], // scripts of India
  [0x966, 0xdff],
  [0x10a0, 0x10ff], // Georgian
  [0x1200, 0x135f], // Ethiopic
  [0x1e00, 0x1fff], // Latin, Greek
];

/** Letters of scripts in which words follow each other, or a Latin word, without a space. */
const unspaced: readonly Range[] = [
  [0xe01, 0xe3a], // Thai
  [0xe40, 0xe4e],
  [0xe50, 0xe59],
  [0xe81, 0xedf], // Lao
  [0xf20, 0xfbc], // Tibetan
  [0x1000, 0x1049], // Burmese
  [0x1100, 0x11ff], // Korean
  [0x1780, 0x17d3], // Khmer
  [0x17e0, 0x17e9],
  [0x3005, 0x3007], // Chinese, Japanese
  [0x3041, 0x3096],
  [0x309d, 0x309f],
  [0x30a1, 0x30ff],
  [0x3105, 0x312f],
  [0x3131, 0x318e],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xff10, 0xff19], // ASCII in full width
  [0xff21, 0xff3a],
  [0xff41, 0xff5a],
  [0xff66, 0xff9f],
];

/** Full-width and half-width punctuation of mail addresses: `＠`, `．`, `｡`. */
const signs: readonly Range[] = [
  [0xff20, 0xff20],
  [0xff0e, 0xff0e],
  [0xff61, 0xff61],
];

/** Ranges as the inside of a character class. */
const classOf = (ranges: readonly Range[]): string =>
  ranges.map((range) => range.map((unit) => String.raw`\u${unit.toString(16).padStart(4, '0')}`).join('-')).join('');

export const letterClass = classOf(spaced);
export const unspacedClass = classOf(unspaced);

const isSpaced = 1;
const kinds = new Uint8Array(0x10000);
for (const [from, to] of spaced) kinds.fill(isSpaced, from, to + 1);
for (const [from, to] of [...unspaced, ...signs]) kinds.fill(isSpaced + 1, from, to + 1);

/** True for such a letter: words of mail addresses may contain them, tokens do not. */
export const isLetterBeyond = (unit: number): boolean => kinds[unit] === isSpaced;

/** True for what a mail address may contain beyond ASCII, in any script. */
export const isMailUnitBeyond = (unit: number): boolean => kinds[unit] !== 0;
