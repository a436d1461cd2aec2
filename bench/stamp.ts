const digits = 'abcdefghij';

/** A time in ms, to two places, as letters: a number at the end of what was streamed is held back until it is known not to be a card's or a person's. */
export const stampOf = (ms: number): string => `@${ms.toFixed(2).replace(/\d/g, (digit) => digits[Number(digit)] ?? '')} `;

/** The times of the stamps in a text, ms. */
export const stampsIn = (text: string): number[] =>
  [...text.matchAll(/@([a-j.]+)/g)].map(([, stamp = '']) =>
    Number(stamp.replace(/[a-j]/g, (letter) => String(digits.indexOf(letter)))),
  );
