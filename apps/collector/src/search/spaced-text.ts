/** Characters of scripts without spaces between words (Chinese, Japanese, Korean, Thai, …), and pictures such as emoji. */
const single =
  /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff]|[\u{20000}-\u{3ffff}]|\p{Extended_Pictographic}/gu;
const anySingle = new RegExp(single.source, 'u');

/**
 * A text for the index: each character of a script without spaces becomes a word, so that any part of a sentence is found;
 * in a query several of them become a phrase. Some systems write an accented letter as two characters, macOS in names of files: both forms
 * become one.
 */
export function spacedText(text: string): string {
  const whole = text.normalize();
  return anySingle.test(whole) ? whole.replaceAll(single, ' $& ') : whole;
}
