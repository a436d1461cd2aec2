import type { Attachment } from '@svc/contract/envelope.ts';
import type { EngineRequest } from './engine.ts';
import { readBeginning } from './read-beginning.ts';
import { isImage } from './turn-text.ts';

/** How much is read of one file and of all together, bytes: more requires the right to read files. */
const maxBytes = { file: 64 * 1024, all: 128 * 1024 };

/** The text of attachments, for a turn that has no tool to open them. Other files are left out. */
export async function shownTexts({ toolPolicy, attachments }: EngineRequest): Promise<ReadonlyMap<Attachment, string>> {
  const texts = new Map<Attachment, string>();
  if (toolPolicy !== 'none') return texts;
  let room = maxBytes.all;
  for (const file of attachments) {
    const beginning = isImage(file) ? 'not_a_file' : await readBeginning(file.path, Math.min(room, maxBytes.file));
    const text = typeof beginning === 'string' ? null : toText(beginning.bytes);
    if (typeof beginning === 'string' || text === null) continue;
    room -= beginning.bytes.length;
    texts.set(file, text);
  }
  return texts;
}

/** Null unless it is UTF-8 without control characters that no text contains. A character cut at the end is dropped. */
function toText(bytes: Buffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return text === '' || text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}
