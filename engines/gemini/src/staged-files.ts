import { copyFile, link, mkdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Attachment } from '@svc/contract/envelope.ts';
import { isImage } from '@svc/engine-kit/turn-text.ts';

export type StagedFiles = {
  /** The attachments, those that could be staged with their new path. */
  attachments: Attachment[];
  /** Those of them that the program can show to the model. */
  images: Attachment[];
  /** Folder to open to the program; null when there is nothing in it. */
  dir: string | null;
};

/** The vendor takes 20 MB in a request, the images of all messages before included. */
const maxImageBytes = 7_000_000;

const extensions: Record<string, string> = {
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/gif': '.gif',
  'image/webp': '.webp',
};

/**
 * Puts the files of a message into a folder of the turn, because the program reads nothing outside the folders it is
 * given. The names start with `prefix`, so that they are no file of the working folder and no file the program takes
 * for instructions.
 */
export async function stageFiles(attachments: readonly Attachment[], dir: string, prefix: string): Promise<StagedFiles> {
  if (attachments.length === 0) return { attachments: [], images: [], dir: null };
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const staged = await Promise.all(
    attachments.map((file, index) => stageFile(file, path.join(dir, `${prefix}-${index + 1}-${nameOf(file)}`))),
  );
  return {
    attachments: staged.map(({ file }) => file),
    images: staged.filter(({ isShown }) => isShown).map(({ file }) => file),
    dir,
  };
}

/** A file that is gone or too large keeps its own path: the model is told the name and can say so. */
async function stageFile(file: Attachment, target: string): Promise<{ file: Attachment; isShown: boolean }> {
  try {
    const source = await realpath(file.path);
    await link(source, target).catch(() => copyFile(source, target));
    const { size } = await stat(target);
    return { file: { ...file, path: target }, isShown: isImage(file) && size <= maxImageBytes };
  } catch {
    return { file, isShown: false };
  }
}

/** A name without anything that means something to the program; its ending tells the program what an image is. */
function nameOf({ name, path: file, mime }: Attachment): string {
  const base = (name ?? path.basename(file)).replaceAll(/[^\w.-]/g, '_').slice(-80);
  const extension = extensions[mime ?? ''];
  return extension === undefined || base.toLowerCase().endsWith(extension) ? base : `${base}${extension}`;
}
