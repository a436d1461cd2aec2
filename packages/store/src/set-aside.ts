import { readdirSync, renameSync } from 'node:fs';

/** Gives a file that cannot be used a name under which nothing uses it, and returns that. */
export function setAside(file: string): string {
  const name = `${file}.damaged-${Date.now()}`;
  renameSync(file, name);
  return name;
}

/** The names of the files in a folder that were set aside, and that a person has not looked at and removed yet. */
export const findSetAside = (folder: string): string[] => readdirSync(folder).filter((name) => /\.damaged-\d+$/.test(name));
