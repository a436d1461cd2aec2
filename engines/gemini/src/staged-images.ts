import { copyFile, link, mkdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Attachment } from '@svc/contract/envelope.ts';
import { isImage } from '@svc/engine-kit/turn-text.ts';

export type StagedImages = {
  /** Attachments that the program can show to the model. */
  shown: Attachment[];
  /** Their names in the prompt. */
  names: string[];
  /** Folder to which the program needs access; null when it is empty. */
  dir: string | null;
};

/** The vendor accepts 20 MB per request, including the images of all earlier messages. */
const maxImageBytes = 7_000_000;

const extensions: Record<string, string> = {
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/gif': '.gif',
  'image/webp': '.webp',
};

/**
 * Copies the images of a message to a folder of the turn: the program shows an image only by a name in its prompt, in which many characters
 * have a meaning. The names start with `prefix`, so that none is a file of the working folder.
 */
export async function stageImages(attachments: readonly Attachment[], dir: string, prefix: string): Promise<StagedImages> {
  const images = attachments.filter(isImage);
  if (images.length === 0) return { shown: [], names: [], dir: null };
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const staged = await Promise.all(
    images.map(async (file, index) => {
      const name = `${prefix}-${index + 1}${extensions[file.mime ?? ''] ?? ''}`;
      return (await canBeShown(file, path.join(dir, name))) ? [{ file, name }] : [];
    }),
  );
  const shown = staged.flat();
  return { shown: shown.map(({ file }) => file), names: shown.map(({ name }) => name), dir };
}

/** A missing or too large image is only named, and the model can say so. */
async function canBeShown(file: Attachment, target: string): Promise<boolean> {
  try {
    const source = await realpath(file.path);
    if ((await stat(source)).size > maxImageBytes) return false;
    await link(source, target).catch(() => copyFile(source, target));
    return true;
  } catch {
    return false;
  }
}
