import { readdirSync } from 'node:fs';

/** A name under which nothing uses a file. */
export const setAsideName = (file: string, number: number): string => `${file}.damaged-${number}`;

/** The names of the files in a folder that were set aside, and that a person has not looked at and removed yet. */
export const findSetAside = (folder: string): string[] => readdirSync(folder).filter((name) => /\.damaged-\d+$/.test(name));
