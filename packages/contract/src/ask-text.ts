import type { Ask } from './ask.ts';

/** A question with its answers, for a channel without buttons: what a person writes of them is a message like any other. */
export const askText = ({ text, options }: Pick<Ask, 'text' | 'options'>): string =>
  [text, ...options.map(({ label }, index) => `${index + 1}. ${label}`)].join('\n');
