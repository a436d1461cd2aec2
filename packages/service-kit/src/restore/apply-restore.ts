import { existsSync, readdirSync, rmSync } from 'node:fs';
import type { RestorePlan } from '@svc/contract/backup.ts';
import { readJsonFile } from '../json/read-json-file.ts';
import { keepConnectors, keepSecrets } from './keep-present.ts';
import { filesIn, planIn, restorePaths, startedIn, type RestorePaths } from './restore-paths.ts';
import {
  stateNames,
  begin,
  foreignName,
  resume,
  incomingNames,
  type Journal,
  readJournal,
  type Rename,
  type Replaced,
} from './swap.ts';

/**
 * Applies a pending restore or undo, before anything else of the service runs. It is atomic: if it is killed, the next call
 * completes it. Returns what was done, for the operator to read.
 * @throws Error when it fails; the journal remains, and the next call resumes.
 */
export function applyRestore(dataDir: string, rename?: Rename): string[] {
  const paths = restorePaths(dataDir);
  if (!existsSync(paths.folder)) return [];
  const begun = readJournal(paths);
  if (begun !== null) {
    const journal = begun.kind === 'restore' && existsSync(paths.undo) ? turnBack(paths, begun) : begun;
    // A restore that was turned back must not begin again.
    if (journal.kind === 'undo') rmSync(paths.pending, { recursive: true, force: true });
    resume(paths, journal, rename);
    return [wordsFor[journal.kind](journal.plan)];
  }
  if (existsSync(paths.undo)) return undo(paths, rename);
  const plan = readJsonFile(planIn(paths.pending)) as RestorePlan | null;
  // The earlier state is kept until a start has succeeded.
  if (existsSync(startedIn(paths.replaced))) rmSync(paths.replaced, { recursive: true, force: true });
  rmSync(paths.discarded, { recursive: true, force: true });
  return plan === null ? [] : restore(paths, plan, rename);
}

function restore(paths: RestorePaths, plan: RestorePlan, rename: Rename | undefined): string[] {
  const ins = incomingNames(paths.pending);
  const outs = stateNames(paths.root, plan.secrets, ins);
  const foreign = foreignName(paths, outs);
  if (foreign !== null) {
    return [
      `The backup was not restored: ${foreign} is on a file system of its own and cannot be moved aside. Nothing was changed.`,
    ];
  }
  if (plan.secrets === 'kept' || !ins.includes('instances')) keepSecrets(paths.root, filesIn(paths.pending));
  keepConnectors(paths.root, filesIn(paths.pending));
  const journal = { kind: 'restore', plan, outs, ins: incomingNames(paths.pending) } as const;
  begin(paths, journal);
  resume(paths, journal, rename);
  return [wordsFor.restore(plan)];
}

function undo(paths: RestorePaths, rename: Rename | undefined): string[] {
  const plan = readJsonFile(planIn(paths.replaced)) as Replaced | null;
  if (plan === null) {
    rmSync(paths.undo, { force: true });
    return [];
  }
  const ins = incomingNames(paths.replaced);
  const outs = stateNames(paths.root, plan.secrets, [...plan.put, ...ins]);
  const journal = { kind: 'undo', plan, outs, ins } as const;
  begin(paths, journal);
  resume(paths, journal, rename);
  return [wordsFor.undo(plan)];
}

/** Undoes an unfinished restore: what it has put in place goes, what it has moved aside comes back, and the rest was never moved. */
function turnBack(paths: RestorePaths, { plan, ins: wanted }: Journal): Journal {
  const waiting = new Set(incomingNames(paths.pending));
  const present = new Set(readdirSync(paths.root));
  const outs = wanted.filter((name) => present.has(name) && !waiting.has(name));
  const journal = { kind: 'undo', plan, outs, ins: incomingNames(paths.replaced) } as const;
  begin(paths, journal);
  return journal;
}

const dateOf = ({ created_at }: RestorePlan) => new Date(created_at).toISOString().slice(0, 16).replace('T', ' ');

const wordsFor = {
  restore: (plan: RestorePlan) =>
    `The backup of ${dateOf(plan)} UTC is in place. What was there before is kept until the next start; ./svc backup undo brings it back.`,
  undo: (plan: RestorePlan) => `The restore of the backup of ${dateOf(plan)} UTC was undone. The earlier state is back.`,
};
