import { readFileSync } from 'node:fs';
import { makePrivateDir, writeFileAtomic } from '@svc/service-kit/files.ts';
import path from 'node:path';

export type FileFacts = { file: string; size: number; modifiedAt: number };

/** The upload under which a file was begun, valid while the file is unchanged. */
export type Resumable = {
  find(facts: FileFacts): string | null;
  keep(facts: FileFacts, uploadId: string): void;
  forget(facts: FileFacts): void;
};

/** As many as a person may have unfinished at once. */
const maxKept = 100;

/** Stored in a small file. If it cannot be read, an upload starts over, and nothing else is lost. */
export function createResumable(file: string): Resumable {
  const keyOf = ({ file: name, size, modifiedAt }: FileFacts) => `${size}:${modifiedAt}:${name}`;
  const write = (kept: [string, string][]) => {
    makePrivateDir(path.dirname(file));
    writeFileAtomic(file, JSON.stringify(Object.fromEntries(kept.slice(-maxKept))));
  };
  return {
    find: (facts) => read(file).find(([key]) => key === keyOf(facts))?.[1] ?? null,
    keep: (facts, uploadId) => write([...read(file).filter(([key]) => key !== keyOf(facts)), [keyOf(facts), uploadId]]),
    forget: (facts) => write(read(file).filter(([key]) => key !== keyOf(facts))),
  };
}

function read(file: string): [string, string][] {
  try {
    const kept: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Object.entries(kept ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  } catch {
    return []; // there is none yet, or it is damaged: see above
  }
}
