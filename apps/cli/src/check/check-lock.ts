import { readFile } from 'node:fs/promises';
import path from 'node:path';

type Lock = {
  packages?: Record<
    string,
    { hasInstallScript?: boolean; resolved?: string; link?: boolean; version?: string; license?: string }
  >;
};

/**
 * What must not be in a lock file: a package that runs a script at installation, the address of a private
 * registry, and a copyleft license. Returns one line per fault.
 */
export function lockFaults(name: string, { packages = {} }: Lock): string[] {
  return Object.entries(packages).flatMap(([where, entry]) => [
    ...(entry.hasInstallScript === true ? [`${name}: ${where} runs a script when it is installed`] : []),
    ...(entry.resolved !== undefined && entry.link !== true ? [`${name}: ${where} names the address ${entry.resolved}`] : []),
    ...(isCopyleft(entry.license) ? [`${name}: ${where} is under ${entry.license}`] : []),
  ]);
}

/** Not the LGPL. Where there is a choice, as in "(MIT OR GPL-3.0)", the other one is taken. */
const isCopyleft = (license = ''): boolean => /\bA?GPL\b/.test(license) && !/\bOR\b/.test(license);

export async function checkLocks(root: string): Promise<string[]> {
  const names = ['package-lock.json', path.join('runtime', 'package-lock.json')];
  const locks = await Promise.all(names.map(async (name) => JSON.parse(await readFile(path.join(root, name), 'utf8')) as Lock));
  return locks.flatMap((lock, index) => lockFaults(names[index] ?? '', lock));
}
