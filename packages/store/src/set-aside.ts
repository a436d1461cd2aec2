import { readdirSync } from 'node:fs';

/** A name under which a damaged file is kept, unused. */
export const setAsideName = (file: string, number: number): string => `${file}.damaged-${number}`;

/** The names of the files in a folder that were set aside and not removed by a person yet. */
export const findSetAside = (folder: string): string[] => readdirSync(folder).filter((name) => /\.damaged-\d+$/.test(name));
