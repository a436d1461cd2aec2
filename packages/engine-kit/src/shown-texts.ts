import { open } from 'node:fs/promises';
import type { Attachment } from '@svc/contract/envelope.ts';
import type { EngineRequest } from './engine.ts';
import { isImage } from './turn-text.ts';

/** What is read of one file and of all together, in bytes: more belongs to those who may read files. */
const maxBytes = { file: 64 * 1024, all: 128 * 1024 };

/** The text of the attachments, for a turn that has no tool to open them with. What is no text is left out. */
export async function shownTexts({ toolPolicy, attachments }: EngineRequest): Promise<ReadonlyMap<Attachment, string>> {
  const texts = new Map<Attachment, string>();
  if (toolPolicy !== 'none') return texts;
  let room = maxBytes.all;
  for (const file of attachments) {
    const bytes = isImage(file) ? null : await readBeginning(file.path, Math.min(room, maxBytes.file));
    const text = bytes === null ? null : toText(bytes);
    if (bytes === null || text === null) continue;
    room -= bytes.length;
    texts.set(file, text);
  }
  return texts;
}

/** Null for what is gone, cannot be read, or is no file. */
async function readBeginning(file: string, max: number): Promise<Buffer | null> {
  try {
    await using handle = await open(file);
    if (!(await handle.stat()).isFile()) return null;
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(max), 0, max, 0);
    return buffer.subarray(0, bytesRead);
  } catch {
    return null;
  }
}

/** Null for what is not UTF-8, or has signs that no text has. A character that the end cuts in two is left out. */
function toText(bytes: Buffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return text === '' || text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}
