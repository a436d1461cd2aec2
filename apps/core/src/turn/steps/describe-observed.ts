import path from 'node:path';
import { tierWords } from '@svc/contract/trust.ts';
import type { TurnFile } from '@svc/engine-kit/engine.ts';
import { dataBlock, dataLine, plainName } from '@svc/engine-kit/prompt-blocks.ts';
import type { ObservedMessage } from '../../session/observed-store.ts';

/** A message to describe, with its files where an engine may open them. */
export type SeenMessage = Omit<ObservedMessage, 'attachments'> & { attachments: readonly TurnFile[] };

/** Most characters of the whole block, and those reserved for its heading and the line on older messages. */
const maxLength = 12_000;
const reserved = 900;
/** Most characters for the files of one message: a single message always fits. */
const maxFiles = 2500;
const maxNames = 5;

/** The observed messages as a part of the prompt: the newest in full, with one line about all earlier ones. */
export function describeObserved(seen: readonly SeenMessage[]): string[] {
  const [oldest] = seen;
  if (oldest === undefined) return [];
  const { lines, from } = newestLines(seen);
  const older = from + oldest.gone === 0 ? [] : [summarize(oldest, seen.slice(0, from))];
  return [dataBlock('seen', [...older, ...lines])];
}

/** As many of the newest as there is room for, in order of arrival. */
function newestLines(seen: readonly SeenMessage[]): { lines: string[]; from: number } {
  const lines: string[] = [];
  let room = maxLength - reserved;
  for (const message of seen.toReversed()) {
    const line = describe(message);
    room -= line.length + 1;
    if (room < 0) break;
    lines.unshift(line);
  }
  return { lines, from: seen.length - lines.length };
}

/** Includes the sender's trust: senders choose their names, and may choose another person's. */
function describe({ sender, tier, text, attachments }: SeenMessage): string {
  const files = attachments.length === 0 ? {} : listFiles(attachments);
  return dataLine({ from: plainName(sender), trust: tier === null ? undefined : tierWords[tier], text, ...files });
}

function listFiles(attachments: readonly TurnFile[]): { files: object[]; more_files?: number } {
  const files: object[] = [];
  let room = maxFiles;
  for (const attachment of attachments) {
    const file = fileFields(attachment);
    room -= dataLine(file).length + 1;
    if (room < 0) return { files, more_files: attachments.length - files.length };
    files.push(file);
  }
  return { files };
}

const fileFields = ({ name, mime, path: file, missing }: TurnFile): object =>
  missing === true ? { name: name ?? path.basename(file), mime, missing } : { name, mime, path: file };

/** How many came before those that are shown, from whom as far as known, and when the first and the last arrived. */
function summarize({ gone, gone_since, gone_until }: SeenMessage, left: readonly SeenMessage[]): string {
  const names = [...new Set(left.map(({ sender }) => plainName(sender).slice(0, 60)))];
  return dataLine({
    older_messages: left.length + gone,
    from: names.slice(0, maxNames),
    and_others: names.length > maxNames || gone > 0 ? true : undefined,
    first: timeOf(gone_since ?? left[0]?.at),
    last: timeOf(left.at(-1)?.at ?? gone_until),
  });
}

const timeOf = (at: number | null | undefined): string | undefined =>
  typeof at === 'number' ? new Date(at).toISOString() : undefined;
