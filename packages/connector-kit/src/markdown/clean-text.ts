/** Control characters, marks of writing direction that reorder what is around them (isolates stay), and what marks entities here. */
const unwanted = /[^\P{Cc}\n\t]|[\u202a-\u202e\ufdd0-\ufdd2]/gu;
const lineEnds = /\r\n?|[\u2028\u2029]/g;

/** A text as platforms keep it: well-formed, one kind of line end, nothing that they would take out. */
export const cleanText = (text: string): string => text.toWellFormed().replaceAll(lineEnds, '\n').replaceAll(unwanted, '');

/** Nothing that a reader would see: platforms refuse such a message. */
export const isBlank = (text: string): boolean =>
  !/[^\s\p{Cf}\p{Cc}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\p{M}]/u.test(text);
