import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/** The origin of a candidate, in the order in which they are tried. */
export type EngineSource = 'setting' | 'installed' | 'path';

export type EngineLocation<Found> =
  | { found: true; value: Found; from: EngineSource; reason: string }
  /** `isAbsent`: the engine is not installed at all, not on PATH, and no path was configured. */
  | { found: false; reason: string; isAbsent?: true };

export type EngineSearch<Found> = {
  id: string;
  /** The path from the settings. If set, nothing else is tried, so that a wrong setting is not hidden by a lucky find. */
  explicit: string | null;
  enginesDir: string;
  /** Name of the program on PATH. */
  program: string;
  searchPath: string | undefined;
  /** Checks a file or folder: returns what can be started there, or a string that says what is missing. */
  accept(candidate: string): Found | string;
};

/** Finds an engine: the explicit path, otherwise `<enginesDir>/<id>/current`, otherwise the program on PATH. */
export function findEngine<Found extends object>(search: EngineSearch<Found>): EngineLocation<Found> {
  const reasons: string[] = [];
  let isAbsent = search.explicit === null;
  for (const { from, candidate } of candidates(search)) {
    if (candidate === null || !exists(candidate)) {
      reasons.push(candidate === null ? `no ${search.program} on PATH` : `nothing at ${candidate}`);
      continue;
    }
    isAbsent = false;
    const value = search.accept(candidate);
    if (typeof value !== 'string') return { found: true, value, from, reason: `${sourceWords[from]}: ${candidate}` };
    reasons.push(`${candidate}: ${value}`);
  }
  return { found: false, reason: reasons.join('; '), ...(isAbsent && { isAbsent }) };
}

/** Why an engine cannot be used, as a sentence: the command that installs it, or what is wrong with the candidate found. */
export const absence = (name: string, id: string, { reason, isAbsent }: { reason: string; isAbsent?: true }): string =>
  isAbsent === true ? `${name} is not installed: "./svc engine install ${id}".` : `${name} is not installed (${reason}).`;

const sourceWords: Record<EngineSource, string> = {
  setting: 'set in the settings',
  installed: 'installed in the data folder',
  path: 'found on PATH',
};

function candidates<Found>(search: EngineSearch<Found>): { from: EngineSource; candidate: string | null }[] {
  if (search.explicit !== null) return [{ from: 'setting', candidate: search.explicit }];
  const installed = path.join(search.enginesDir, search.id, 'current');
  return [
    { from: 'installed', candidate: installed },
    { from: 'path', candidate: findProgram(search.program, search.searchPath) },
  ];
}

/** The first executable file with this name in the folders of PATH. Relative folders are skipped. */
export function findProgram(name: string, searchPath: string | undefined): string | null {
  const folders = (searchPath ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return folders.map((folder) => path.join(folder, name)).find(isProgram) ?? null;
}

/** True for a regular file that this process may execute. */
export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

const exists = (candidate: string): boolean => statSync(candidate, { throwIfNoEntry: false }) !== undefined;
