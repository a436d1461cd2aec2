import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ifThereSync } from '@svc/service-kit/files.ts';

/** The files of a folder, recursively. Files that a running program removes meanwhile are skipped. */
export const filesBelow = (folder: string): string[] =>
  ifThereSync(() => readdirSync(folder, { withFileTypes: true }), []).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(file);
    return entry.isFile() ? [file] : [];
  });

/** The files below a folder that contain a text. */
export const filesHolding = (folder: string, text: string): string[] =>
  filesBelow(folder).filter((file) => ifThereSync(() => readFileSync(file), null)?.includes(text));
