import { copyFileSync, linkSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import path from 'node:path';

/**
 * Copies a folder at almost no cost: files become hard links, symbolic links are kept. Top-level files whose names begin with a dot are copied,
 * because installers overwrite their notes there in place. Across file systems everything is copied. `isWanted`: by the name of a file or folder.
 */
export function linkTree(from: string, to: string, isWanted = (_name: string): boolean => true, isTop = true): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (!isWanted(entry.name)) continue;
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) linkTree(source, target, isWanted, false);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (entry.isFile()) linkFile(source, target, isTop && entry.name.startsWith('.'));
  }
}

/** A hard link, or a copy where there can be none. */
export function linkFile(source: string, target: string, asCopy = false): void {
  if (!asCopy) {
    try {
      return linkSync(source, target);
    } catch (error) {
      // Another file system, one without links, or too many links.
      if (!['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  copyFileSync(source, target);
}

export const isFolder = (at: string): boolean => lstatSync(at, { throwIfNoEntry: false })?.isDirectory() === true;
