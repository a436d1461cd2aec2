import { existsSync } from 'node:fs';
import type { UpdateCheck, UpdateStatus } from '@svc/contract/update.ts';
import { dataPaths } from '../config/data-dir.ts';
import { writeFileAtomic } from '../files.ts';
import { readJsonFile } from '../json/read-json-file.ts';
import { isAlive } from '../process/signal-process.ts';
import { birthMark } from '../process/birth-mark.ts';
import type { UpdatePlaces } from './update-places.ts';

type Named = { name: string; commit: string };
type Journal = { phase: string; startedAt: number; from: Named; to: Named; pid?: number; born?: string | null };
type Last = {
  code: number;
  words: string;
  from: Named;
  to: Named;
  endedAt: number;
  gapMs: number | null;
  refused?: string | null;
  held?: string | null;
};

/** The running update, from its journal; null when none runs, even if one was interrupted. */
export function runningUpdate({ journal }: Pick<UpdatePlaces, 'journal'>): UpdateStatus['running'] {
  const found = readJsonFile(journal) as Journal | null;
  if (found === null || !isAlive(found.pid) || birthMark(Number(found.pid)) !== (found.born ?? null)) return null;
  return { phase: found.phase, from: found.from.name, to: found.to.name, started_at: found.startedAt };
}

/** True when an update was interrupted and not completed since. */
export const isLeftOpen = (places: Pick<UpdatePlaces, 'journal' | 'trial'>): boolean =>
  (existsSync(places.journal) || existsSync(places.trial)) && runningUpdate(places) === null;

export function lastUpdate({ last }: Pick<UpdatePlaces, 'last'>): UpdateStatus['last'] {
  const found = readJsonFile(last) as Last | null;
  if (found === null) return null;
  const { code, words, from, to, endedAt, gapMs } = found;
  return { code, words, from: from.name, to: to.name, ended_at: endedAt, gap_ms: gapMs };
}

/** True when a commit failed here, a person went back from it, or a person must act before it can be installed. */
export function isHeldBack({ last }: Pick<UpdatePlaces, 'last'>, commit: string): boolean {
  const { refused, held } = (readJsonFile(last) as Last | null) ?? {};
  return commit === refused || commit === held;
}

export const readUpdateCheck = (dataDir: string): UpdateCheck | null =>
  readJsonFile(dataPaths(dataDir).updateCheck) as UpdateCheck | null;

export const writeUpdateCheck = (dataDir: string, check: UpdateCheck): void =>
  writeFileAtomic(dataPaths(dataDir).updateCheck, JSON.stringify(check));
