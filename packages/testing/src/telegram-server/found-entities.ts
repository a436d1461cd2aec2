import type { FormattedText, TelegramEntity } from './api-types.ts';

const patterns: [string, RegExp][] = [
  ['bot_command', /(?<![\w/])\/\w{1,64}(?:@\w{3,32})?/g],
  ['mention', /(?<![\w@])@[a-z]\w{2,31}/gi],
  ['url', /\bhttps?:\/\/[^\s<>"]*[^\s<>".,;:!?)]/gi],
  ['email', /\b[\w.+-]+@[\w-]+\.\w{2,}\b/g],
];

/** The entities that the platform detects in a text: commands, mentions and addresses, except inside explicit ones. */
export function addFoundEntities({ text, entities }: FormattedText): FormattedText {
  const found = patterns.flatMap(([type, pattern]) =>
    [...text.matchAll(pattern)].map(({ index, 0: { length } }): TelegramEntity => ({ type, offset: index, length })),
  );
  const isTaken = (one: TelegramEntity, by: readonly TelegramEntity[]) =>
    by.some(
      ({ type, offset, length }) => !decoration.has(type) && one.offset < offset + length && offset < one.offset + one.length,
    );
  const kept: TelegramEntity[] = [];
  for (const one of found) if (!isTaken(one, entities) && !isTaken(one, kept)) kept.push(one);
  return { text, entities: [...entities, ...kept].toSorted((a, b) => a.offset - b.offset || b.length - a.length) };
}

const decoration = new Set(['bold', 'italic', 'underline', 'strikethrough', 'spoiler', 'blockquote', 'expandable_blockquote']);
