/**
 * Control characters, marks of writing direction that reorder the text around them (isolates are kept), and the characters that `marks.ts`
 * uses.
 */
const unwanted = /[^\P{Cc}\n\t]|[\u202a-\u202e\ufdd0-\ufdd2]/gu;
const lineEnds = /\r\n?|[\u2028\u2029]/g;

/** A text as platforms store it: well-formed, with one kind of line break, without characters that they would remove. */
export const cleanText = (text: string): string => text.toWellFormed().replaceAll(lineEnds, '\n').replaceAll(unwanted, '');

/** True when a reader would see nothing: platforms refuse such a message. */
export const isBlank = (text: string): boolean =>
  !/[^\s\p{Cf}\p{Cc}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\p{M}]/u.test(text);
