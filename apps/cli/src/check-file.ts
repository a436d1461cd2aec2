import { statSync } from 'node:fs';
import path from 'node:path';
import { CliError } from './cli-error.ts';

/** @throws CliError when a named file does not exist or is not a file */
export function checkFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new CliError(`there is no file ${file}.`, { why: looksFrom(file) });
  if (!found.isFile()) throw new CliError(`${file} is not a file.`, { why: 'Pack a folder into an archive first.' });
}

/** @throws CliError when the folder for a new file does not exist */
export function checkFolderOf(file: string): void {
  const folder = path.dirname(file);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true) throw new CliError(`there is no folder ${folder}.`, { why: looksFrom(folder) });
}

const looksFrom = (file: string): string | undefined =>
  path.isAbsolute(file) ? undefined : `It was looked for in ${process.cwd()}.`;
