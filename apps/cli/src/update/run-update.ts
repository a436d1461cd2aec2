import { makePrivateDir } from '@svc/service-kit/files.ts';
import { syncDisk } from '@svc/service-kit/restore/sync-disk.ts';
import type { UpdateChannel } from '@svc/service-kit/update/update-settings.ts';
import { buildWebApps, takeBuilds } from './build-web-apps.ts';
import { migrationsByApp } from './copy-databases.ts';
import { tryOnCopies } from './dry-run.ts';
import { unhealthyHosts } from './examine-service.ts';
import { endJournal, type Journal, type Version, writeJournal } from './journal.ts';
import { readLastUpdate, writeLastUpdate, writeStoppedUpdate } from './last-update.ts';
import { readPointer } from './pointer.ts';
import { foreignEnv } from './program-env.ts';
import { finishUpdate } from './finish-update.ts';
import { switchTo } from './switch-to.ts';
import type { UpdateContext } from './update-context.ts';
import { UpdateStopped, updateCodes, type Outcome } from './update-outcome.ts';
import { BrokenVersion, versionFolder } from './version-folder.ts';
import { whyNotBack, whyNotOnDatabases } from './version-migrations.ts';

/** `own`: a commit that was made here, on top of the target of the channel or ref. */
export type UpdateRequest = { channel: UpdateChannel; ref: string | null; rollback: boolean; own?: Version };

type Goal = { to: Version; fetch: (() => Promise<void>) | null };

/** Changes the installation to another version, or leaves it as it was. @throws UpdateStopped when it ends before the switch */
export async function runUpdate(context: UpdateContext, request: UpdateRequest): Promise<Outcome> {
  const { places, source, say, now } = context;
  const from = await runningVersion(context);
  const goal = request.rollback ? await goalOfRollback(context) : await goalOf(context, request, from);
  const startedAt = now();
  const id = new Date(startedAt).toISOString().replaceAll(/[:.]/g, '-');
  const isEdge = request.channel === 'edge' && request.ref === null && !request.rollback && request.own === undefined;
  const stopped = (error: unknown): UpdateStopped => {
    const stop = toStop(error, goal.to);
    noteStop(context, { ...stop.outcome, id, from, to: goal.to, endedAt: now(), gapMs: null }, request.rollback);
    return stop;
  };
  try {
    // A commit made here contains the local changes, and leaves the person's files as they are.
    const kept =
      request.own === undefined ? await source.keepOwnWork(request.channel === 'edge' && request.ref === null, id) : null;
    if (kept !== null) say(kept);
    if (goal.fetch !== null) {
      say(`Fetching ${goal.to.name} …`);
      await goal.fetch();
    }
  } catch (error) {
    throw stopped(error);
  }
  say(`From ${from.name} (${from.commit.slice(0, 12)}) to ${goal.to.name} (${goal.to.commit.slice(0, 12)}).`);
  const journal = { id, startedAt, from, to: goal.to, isEdge, isRollback: request.rollback };
  try {
    await prepare(context, journal);
    begin(context, { ...journal, phase: 'waiting' });
  } catch (error) {
    if (!request.rollback) await source.remove(goal.to.commit);
    endJournal(places);
    throw stopped(error);
  }
  try {
    return await finishUpdate(context, await switchTo(context, { ...journal, phase: 'trying' }));
  } catch (error) {
    throw toOpenEnd(error, goal.to);
  }
}

/** Lets a person see the reason, and prevents useless automatic retries. */
function noteStop({ places, say }: UpdateContext, ended: Parameters<typeof writeStoppedUpdate>[1], isRollback: boolean): void {
  try {
    makePrivateDir(places.folder);
    if (ended.code === updateCodes.rolledBack) writeLastUpdate(places, ended, isRollback);
    else writeStoppedUpdate(places, ended);
  } catch (error) {
    say(`Note: the result could not be recorded: ${(error as Error).message}`);
  }
}

/** The version that runs instead of the clone, if there is one. */
export function runningVersion({ places, source }: UpdateContext): Promise<Version> {
  const commit = readPointer(places);
  return source.installed(commit === null ? places.home : versionFolder(places, commit));
}

async function goalOf({ source }: UpdateContext, { channel, ref, own }: UpdateRequest, current: Version): Promise<Goal> {
  if (own !== undefined) return { to: own, fetch: null };
  const target = await source.find({ channel, ref, current });
  const { commit, name } = target;
  return {
    to: { commit, name, version: name },
    fetch: () => source.fetch(target),
  };
}

async function goalOfRollback({ places }: UpdateContext): Promise<Goal> {
  const back = readLastUpdate(places)?.back ?? null;
  if (back === null)
    throw new UpdateStopped(
      updateCodes.manual,
      'There is no update to roll back. To install a certain version: ./svc update --ref TAG',
    );
  return { to: back, fetch: null };
}

function begin(context: UpdateContext, journal: Journal): void {
  writeJournal(context.places, journal);
  context.onPhase(journal);
}

type Entry = Omit<Journal, 'phase'>;

/** Everything that can be done while the service keeps running, without changing it. */
async function prepare(context: UpdateContext, entry: Entry): Promise<void> {
  const { places, source, data, settings, service, say } = context;
  const { from, to } = entry;
  makePrivateDir(places.folder);
  const like = readPointer(places) === null ? places.home : versionFolder(places, from.commit);
  begin(context, { ...entry, phase: 'keeping' });
  const older = await source.make(from.commit, like);
  takeBuilds(like, older);
  begin(context, { ...entry, phase: 'preparing' });
  say('Preparing it next to the running version …');
  const newer = await source.make(to.commit, older);
  checkSchemas(context, { older, newer });
  await buildWebApps({ folder: newer, like: older, say });
  await syncDisk(newer, foreignEnv());
  begin(context, { ...entry, phase: 'dry-run' });
  say('Starting it on a copy of the data …');
  const unwell = await unhealthyHosts(service.hosts());
  await tryOnCopies({
    folder: newer,
    commit: to.commit,
    work: places.dryRun,
    databases: data,
    bindHost: settings.bindHost,
    unwell,
  });
}

/** A rollback must be possible, and the version must be able to read the present data. */
function checkSchemas({ data }: UpdateContext, { older, newer }: { older: string; newer: string }): void {
  const noWayBack = whyNotBack(older, newer);
  if (noWayBack !== null)
    throw new UpdateStopped(
      updateCodes.manual,
      `A rollback to the installed version would be impossible (${noWayBack}). Update in smaller steps, with --ref.`,
    );
  const unreadable = whyNotOnDatabases(newer, migrationsByApp(data), older);
  if (unreadable !== null)
    throw new UpdateStopped(updateCodes.manual, `That version cannot work with the present data (${unreadable}).`);
}

/** One of the two versions runs, and the journal has the rest. */
const toOpenEnd = (error: unknown, { name }: Version): UpdateStopped =>
  new UpdateStopped(
    updateCodes.manual,
    `The update to ${name} stopped half-way. The service runs one complete version. ${(error as Error).message}\nFix that, then run ./svc update --repair.`,
    { cause: error },
  );

/** Nothing was stopped: whatever failed, the old version keeps running. */
function toStop(error: unknown, { name }: Version): UpdateStopped {
  if (error instanceof UpdateStopped) return error;
  const words = `so the running version stays unchanged. ${(error as Error).message}`;
  if (error instanceof BrokenVersion)
    return new UpdateStopped(updateCodes.rolledBack, `${name} does not work here, ${words}`, { cause: error });
  return new UpdateStopped(updateCodes.manual, `${name} could not be prepared, ${words}`, { cause: error, isPassing: true });
}
