import { existsSync, readFileSync, rmSync } from 'node:fs';
import { finish } from './finish-update.ts';
import { endJournal, type Journal, readJournal, type Version } from './journal.ts';
import { writeLastUpdate, writeStoppedUpdate } from './last-update.ts';
import { confirmTrial, readPointer, readTrial, revertTrial, type Trial } from './pointer.ts';
import type { UpdateContext } from './update-context.ts';
import { confirm, goBack, lostTrial, startMs, verify } from './switch-to.ts';
import { updateCodes } from './update-outcome.ts';
import { awaitWell, whyNotWell, type Fault } from './examine-service.ts';

/** Completes or reverts an earlier, interrupted update. Returns what it did, as text; null when there was none. */
export async function repairUpdate(context: UpdateContext): Promise<string | null> {
  const { places } = context;
  const journal = readJournal(places);
  const trial = readTrial(places);
  rmSync(places.dryRun, { recursive: true, force: true });
  if (journal === null) return trial === null ? finishLate(context) : repairTrial(context, trial, null);
  // Until the trial is over, the service itself may go back to the version before.
  const isLeft = journal.phase === 'confirmed' && readPointer(places) !== journal.to.commit;
  if (!isLeft && (journal.phase === 'confirmed' || journal.phase === 'settling')) return goOn(context, journal);
  if (trial !== null) return repairTrial(context, trial, journal);
  endJournal(places);
  if ((isLeft || journal.phase === 'trying') && existsSync(places.reverted)) return noteReverted(context, journal);
  return `An update to ${journal.to.name} was interrupted before anything was changed (${journal.phase}). What it left was removed.`;
}

/** The version was confirmed, but the clone not yet updated. */
async function goOn(context: UpdateContext, journal: Journal): Promise<string> {
  confirmTrial(context.places);
  await finish(context, journal);
  end(context, journal, updateCodes.ok, `Updated from ${journal.from.name} to ${journal.to.name}.`);
  return `An update to ${journal.to.name} was interrupted at its end. It is complete now.`;
}

/** An unconfirmed version is in place: it stays if it runs well, else the previous one is restored. */
async function repairTrial(context: UpdateContext, trial: Trial, noted: Journal | null): Promise<string> {
  const { places, service } = context;
  const journal = noted ?? journalOf(trial);
  const unwell = new Set(journal.unwell);
  const fault = await whyNotStay(context, trial.to, unwell);
  if (fault === null) {
    const { journal: confirmed } = confirm(context, journal, null);
    return goOn(context, confirmed);
  }
  const { why } = fault;
  let isOwn = fault.isOwn;
  if (service.read() === null) revertTrial(places, why);
  else isOwn = (await goBack(context, { journal, why, unwell })).result !== 'stopped' && isOwn;
  if (isOwn) end(context, journal, updateCodes.rolledBack, `${journal.to.name} was rolled back: ${why}.`);
  else endUntried(context, journal, `${journal.from.name} is in place again: ${why}. Nothing is wrong with ${journal.to.name}.`);
  return `An update to ${journal.to.name} was interrupted. ${journal.from.name} is in place again: ${why}.`;
}

/** Why a version on trial does not stay; null when it does. `isOwn`: it ran, and failed the checks. */
async function whyNotStay(
  context: UpdateContext,
  commit: string,
  unwell: ReadonlySet<string>,
): Promise<{ why: string; isOwn: boolean } | null> {
  const { service } = context;
  const cutOff = { why: 'the update was interrupted before the new version ran', isOwn: false };
  if (service.read() === null) return cutOff;
  let kind: Fault['kind'] | undefined;
  const examine = async (): Promise<Fault | null> => {
    const fault = await whyNotWell(service.hosts(), commit, unwell);
    kind = fault?.kind;
    return fault;
  };
  // It may have started a moment ago.
  const notUp = await awaitWell(examine, { withinMs: startMs, lost: () => lostTrial(context, commit) });
  if (kind === 'other') return cutOff;
  const why = notUp ?? (await verify(context, commit, unwell));
  return why === null ? null : { why, isOwn: !service.isStopped() };
}

/** The supervisor has already rolled back. */
function noteReverted(context: UpdateContext, journal: Journal): string {
  const why = readFileSync(context.places.reverted, 'utf8').trim();
  rmSync(context.places.reverted, { force: true });
  end(context, journal, updateCodes.rolledBack, `${journal.to.name} was rolled back: ${why}`);
  return `${journal.to.name} did not run, and ${journal.from.name} was started again. ${why}`;
}

/** A version runs instead of the clone, because the clone could not be updated: tries that again. */
async function finishLate(context: UpdateContext): Promise<string | null> {
  const commit = readPointer(context.places);
  if (commit === null || !(await context.source.canSettleLate(commit))) return null;
  const version = unknown(commit);
  await finish(context, { ...journalOf({ from: null, to: commit }), from: version, phase: 'confirmed' });
  endJournal(context.places);
  return `This folder was updated to ${version.name}, which ran in its place.`;
}

const unknown = (commit: string | null): Version => ({
  commit: commit ?? '',
  version: 'unknown',
  name: commit === null ? 'the version before' : commit.slice(0, 12),
});

const journalOf = ({ from, to }: Trial): Journal => ({
  id: 'unknown',
  startedAt: 0,
  phase: 'trying',
  from: unknown(from),
  to: unknown(to),
  isEdge: false,
  isRollback: false,
});

/** The interruption says nothing about the version. */
function endUntried({ places, now }: UpdateContext, { id, from, to }: Journal, words: string): void {
  const code = updateCodes.manual;
  writeStoppedUpdate(places, { code, words, id, from, to, endedAt: now(), gapMs: null, isPassing: true });
  endJournal(places);
}

function end({ places, now }: UpdateContext, { id, from, to, isRollback }: Journal, code: 0 | 2, words: string): void {
  writeLastUpdate(places, { code, words, id, from, to, endedAt: now(), gapMs: null }, isRollback);
  endJournal(places);
}
