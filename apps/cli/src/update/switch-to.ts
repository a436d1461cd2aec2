import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SupervisorState } from '@svc/contract/service.ts';
import { isOptional } from '../service-urls.ts';
import { awaitWell, restartFault, unhealthyHosts, whyNotWell } from './examine-service.ts';
import { type Journal, writeJournal } from './journal.ts';
import { lostConnectors, wellConnectors } from './lost-connectors.ts';
import { beginTrial, confirmTrial, readTrial, revertTrial } from './pointer.ts';
import type { UpdateContext } from './update-context.ts';
import { awaitTurns, comesUp, measureGap, startAgain } from './switch-version.ts';
import { holdMs } from '../up/hold-turns.ts';
import { prepareMs } from '../up/lifeline.ts';
import { foreignEnv } from './program-env.ts';
import { versionFolder } from './version-folder.ts';
import { whyNoReply } from './dry-run.ts';

/** `reverted`: the previous version runs again, because of `why`. `stuck`: that one does not run either. `stopped`: a person stopped the service. `lost`: connectors that ran before, with reasons. */
export type Switched = {
  journal: Journal;
  result: 'confirmed' | 'reverted' | 'stuck' | 'stopped';
  why: string | null;
  gapMs: number | null;
  lost: string[];
};

const turnsMs = 60_000;
export const startMs = 60_000;
/** Time beyond the processes' own limit to stop. */
const spareMs = 5000;
/** From the request on: the next version loads its code, running turns end, then the processes stop. */
const longestStopMs = ({ stopTimeoutMs }: UpdateContext['settings']): number => prepareMs + holdMs + stopTimeoutMs + spareMs;
const lookMs = 250;
/** A busy machine may delay an answer for a moment; a process that ended shows by its new start time. */
const silenceMs = 5000;

/** Puts the new version in place on trial, restarts the service, and confirms the version or rolls back. */
export async function switchTo(context: UpdateContext, journal: Journal): Promise<Switched> {
  const { places, service, say, onPhase } = context;
  const { to } = journal;
  const isUp = service.read() !== null;
  const unwell = isUp ? await unhealthyHosts(service.hosts()) : new Set<string>();
  const connectors = isUp ? await wellConnectors(service.instances) : new Set<string>();
  const onWait = () => say('Waiting for running turns, a minute at most …');
  if (isUp && (await awaitTurns(service.coreUrl(), turnsMs, onWait)) > 0)
    say('Some turns are still running; the new version resumes them.');
  // What an earlier update left would count as the end of this one, if it were cut off here.
  rmSync(places.reverted, { force: true });
  writeJournal(places, { ...journal, unwell: [...unwell] });
  beginTrial(places, to.commit);
  onPhase(journal);
  if (!isUp) return confirm(context, journal, null);
  say('Switching …');
  const gap = measureGap(service.coreUrl());
  try {
    const fault = await startAndVerify(context, to.commit, unwell);
    if (fault === null) {
      const confirmed = confirm(context, journal, await gap.stop());
      return { ...confirmed, lost: await lostConnectors(service.instances, connectors) };
    }
    // The gap lasts until either version answers.
    const back = await goBack(context, { journal, why: fault, unwell });
    return { ...back, gapMs: await gap.stop() };
  } finally {
    // Otherwise it would keep this process alive after a fault.
    await gap.stop();
  }
}

/** Why the version in place fails; null when it works. */
export async function startAndVerify(
  context: UpdateContext,
  commit: string,
  unwell: ReadonlySet<string>,
): Promise<string | null> {
  const { service, settings, say } = context;
  if (!(await startAgain(service, longestStopMs(settings), startMs))) return 'the service did not start again in time';
  const fault = await awaitWell(() => whyNotWell(service.hosts(), commit, unwell), {
    withinMs: startMs,
    lost: () => lostTrial(context, commit) ?? restartFault(service.read()),
  });
  if (fault !== null) return fault;
  say(`It runs. Checking for ${Math.ceil(settings.updateVerifyMs / 1000)} s that it keeps running …`);
  return verify(context, commit, unwell);
}

/** The supervisor itself rolls back a version that exits. */
export function lostTrial({ places, service }: UpdateContext, commit: string): string | null {
  if (readTrial(places)?.to !== commit) return 'it ended by itself';
  return service.isStopped() ? 'the service was stopped' : null;
}

/** Requires a reply end to end, then a period in which no process restarts and all stay healthy. */
export async function verify(context: UpdateContext, commit: string, unwell: ReadonlySet<string>): Promise<string | null> {
  const { places, service, settings } = context;
  // An exit during the request for a reply counts, too.
  const before = startsOf(service.read());
  const silent = await whyNoReply(versionFolder(places, commit), foreignEnv(), '/help');
  if (silent !== null) return silent;
  let heardAt = performance.now();
  for (const until = heardAt + settings.updateVerifyMs; ;) {
    const lost = lostTrial(context, commit);
    if (lost !== null) return lost;
    if (startsOf(service.read()) !== before) return 'processes of it ended and were started again';
    const fault = await whyNotWell(service.hosts(), commit, unwell);
    if (fault === null) heardAt = performance.now();
    else if (fault.kind !== 'away' || performance.now() - heardAt > silenceMs) return fault.why;
    if (fault === null && performance.now() >= until) return null;
    await sleep(fault === null ? Math.min(lookMs, Math.max(0, until - performance.now())) : lookMs);
  }
}

const startsOf = (state: SupervisorState | null): string =>
  JSON.stringify([
    state?.pid,
    state?.services.filter(({ name }) => !isOptional(name)).map(({ name, pid, restarts }) => [name, pid, restarts]),
  ]);

export function confirm(context: UpdateContext, journal: Journal, gapMs: number | null): Switched {
  const { places, onPhase } = context;
  const confirmed: Journal = { ...journal, phase: 'confirmed' };
  writeJournal(places, confirmed);
  confirmTrial(places);
  onPhase(confirmed);
  return { journal: confirmed, result: 'confirmed', why: null, gapMs, lost: [] };
}

type Failure = { journal: Journal; why: string; unwell: ReadonlySet<string> };

/** Restores the previous version, and checks that it runs. A service that was stopped stays stopped: the version runs at its next start. */
export async function goBack(context: UpdateContext, { journal, why, unwell }: Failure): Promise<Switched> {
  const { places, service, settings, say } = context;
  const { from } = journal;
  const isStopped = service.isStopped();
  say(isStopped ? 'The service was stopped, so the previous version is put in place again.' : `Rolling back: ${why}.`);
  const mustStart = revertTrial(places, why);
  const end = (result: 'reverted' | 'stuck' | 'stopped', more = ''): Switched => ({
    journal,
    result,
    why: `${why}${more}`,
    gapMs: null,
    lost: [],
  });
  if (isStopped) return end('stopped');
  const isUp = mustStart && service.read() !== null;
  const isStarted = isUp ? await startAgain(service, longestStopMs(settings), startMs) : await comesUp(service, startMs);
  if (service.isStopped()) return end('stuck', '; then the service ended');
  if (!isStarted && isUp) return end('stuck', '; and the previous version did not start');
  if (!isStarted) await service.start();
  const fault = await awaitWell(() => whyNotWell(service.hosts(), from.commit, unwell), { withinMs: startMs, lost: () => null });
  return fault === null ? end('reverted') : end('stuck', `; and of the previous version ${fault}`);
}
