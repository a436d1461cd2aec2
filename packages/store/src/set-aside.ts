import { readdirSync, renameSync } from 'node:fs';

/** A name under which nothing uses a file. */
export const setAsideName = (file: string, number: number): string => `${file}.damaged-${number}`;

/** Gives a file that cannot be used such a name, and returns it. */
export function setAside(file: string): string {
  const name = setAsideName(file, Date.now());
  renameSync(file, name);
  return name;
}

/** The names of the files in a folder that were set aside, and that a person has not looked at and removed yet. */
export const findSetAside = (folder: string): string[] => readdirSync(folder).filter((name) => /\.damaged-\d+$/.test(name));
