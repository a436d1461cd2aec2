import path from 'node:path';
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { once } from 'node:events';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import { loadSettings, type Settings } from '@svc/service-kit/config/settings.ts';
import { archivesOf, managerOf, onlyReleases } from '@svc/service-kit/update/managed.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { installationHome, updatePlaces, type UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import { changeUpdateSettings, channelOf, type UpdateChannel } from '@svc/service-kit/update/update-settings.ts';
import { CliError, toCliError } from '../cli-error.ts';
import { repositoryRoot } from '../repository-root.ts';
import { hostAddresses, isOptional, serviceUrl } from '../service-urls.ts';
import { print } from '../terminal.ts';
import { listInstances } from '../up/ask-services.ts';
import { takeInstanceLock, type InstanceLock } from '../up/before-start.ts';
import { openSource } from '../update/open-source.ts';
import { canBeRepaired, repairByAgent } from '../update/agent/repair-by-agent.ts';
import { readJournal } from '../update/journal.ts';
import { readTrial } from '../update/pointer.ts';
import { managedWords } from '../update/managed-words.ts';
import { createProgressEvents, type ProgressEvents } from '../update/progress-events.ts';
import { repairUpdate } from '../update/repair-update.ts';
import { runUpdate, type UpdateRequest } from '../update/run-update.ts';
import type { UpdateContext } from '../update/update-context.ts';
import { watchService } from '../update/switch-version.ts';
import { toOutcome, UpdateStopped, updateCodes, type Outcome } from '../update/update-outcome.ts';
import { foreignEnv } from '../update/program-env.ts';
import { compileCacheOf } from '../update/take-compiled.ts';

/** The options of `svc update`. */
export type UpdateOptions = {
  auto?: 'on' | 'off';
  check?: boolean;
  channel?: UpdateChannel;
  ref?: string;
  rollback?: boolean;
  repair?: boolean;
  mode?: 'agent';
  json?: boolean;
};

/** Changes the installation to another version, or shows what would happen. Returns the exit code. */
export async function update(options: UpdateOptions): Promise<number> {
  const outcome = await perform(options, loadSettings(repositoryRoot)).catch(toOutcome);
  print(options.json === true ? JSON.stringify(outcome) : withCommand(outcome));
  return outcome.code;
}

/** A failed update names a command that helps. */
function withCommand({ code, words, isPassing = false }: Outcome): string {
  const isFailure = code === updateCodes.rolledBack || code === updateCodes.manual;
  if (!isFailure || words.includes('./svc ')) return words;
  return `${words}\nRun: ${isPassing ? './svc update' : './svc doctor'}`;
}

async function perform(options: UpdateOptions, settings: Settings): Promise<Outcome> {
  const places = updatePlaces(installationHome(repositoryRoot));
  const manager = managerOf(places.home, settings);
  if (manager !== null) return { code: updateCodes.managed, words: managedWords(manager) };
  if (options.auto !== undefined) return chooseAuto(options.auto, settings);
  if (options.channel !== undefined && options.check !== true) chooseChannel(options.channel, places.home, settings);
  const channel =
    options.check === true && options.channel !== undefined
      ? options.channel
      : channelOf(settings.updateChannel, settings.dataDir);
  const request = { channel, ref: options.ref ?? null, rollback: options.rollback === true };
  const repairOnly = options.repair === true;
  const url = () => serviceUrl(settings, 'collector');
  const progress = createProgressEvents({ url, token: settings.insightsToken, now: Date.now });
  const context = openContext(places, settings, { isQuiet: options.json === true, progress });
  if (options.check === true) return check(context, request);
  const lock = takeLock(places);
  if (lock === null) return { code: updateCodes.busy, words: 'Another update is running.' };
  let copy: string;
  try {
    if (repairOnly && !isOpen(places))
      return { code: updateCodes.ok, words: 'No update was interrupted: there is nothing to repair.' };
    if (repositoryRoot !== places.home)
      return repairOnly
        ? await repair(context)
        : await repairAndRun(context, { progress, request, isAgent: options.mode === 'agent' });
    copy = await copyOfThis(context, request);
  } finally {
    lock.release();
  }
  return goOnIn(copy);
}

/** Null when another update holds the lock. @throws UpdateStopped when this user cannot write the folder */
function takeLock({ folder, lock }: UpdatePlaces): InstanceLock | null {
  try {
    makePrivateDir(folder);
    return takeInstanceLock(lock);
  } catch (error) {
    const { why } = toCliError(error);
    throw new UpdateStopped(updateCodes.manual, `No update can be installed into this folder. ${why}`, { cause: error });
  }
}

async function repair(context: UpdateContext): Promise<Outcome> {
  return { code: updateCodes.ok, words: (await repairUpdate(context)) ?? 'There was nothing to repair.' };
}

/** Whether an earlier update was left incomplete. */
const isOpen = (places: UpdatePlaces): boolean => readJournal(places) !== null || readTrial(places) !== null;

const instancesMs = 2000;
/** The collector needs a moment after a switch. */
const eventsMs = 5000;

type Wanted = { progress: ProgressEvents; request: UpdateRequest; isAgent: boolean };

async function repairAndRun(context: UpdateContext, { progress, request, isAgent }: Wanted): Promise<Outcome> {
  const repaired = await repairUpdate(context);
  if (repaired !== null) context.say(repaired);
  const first = await runUpdate(context, request).catch(toOutcome);
  const outcome = isAgent && canBeRepaired(first) ? await handOver(context, { request, failed: first, progress }) : first;
  progress.end(outcome);
  await progress.close(eventsMs);
  return outcome;
}

/** When the updater cannot continue, the current engine is asked to repair the version. */
async function handOver(context: UpdateContext, task: Parameters<typeof repairByAgent>[1]): Promise<Outcome> {
  context.say(task.failed.words);
  return repairByAgent(context, task).catch(toOutcome);
}

function chooseChannel(channel: UpdateChannel, home: string, { updateChannel, updateArchives, dataDir }: Settings): void {
  if (updateChannel !== null && updateChannel !== channel)
    throw new CliError(`SVC_UPDATE_CHANNEL is ${updateChannel}, and the environment takes precedence.`, {
      why: 'Remove it to choose here.',
    });
  // If it were stored, every later update would fail.
  if (channel === 'edge' && archivesOf(home, updateArchives) !== null)
    throw new UpdateStopped(updateCodes.manual, `${onlyReleases} To the newest release: ./svc update`);
  makePrivateDir(dataDir);
  changeUpdateSettings(dataDir, { channel });
}

function chooseAuto(auto: 'on' | 'off', { dataDir }: Settings): Outcome {
  makePrivateDir(dataDir);
  changeUpdateSettings(dataDir, { auto: auto === 'on' });
  const words = auto === 'on' ? 'Updates are installed automatically from now on.' : 'Updates are not installed automatically.';
  return { code: updateCodes.ok, words };
}

/** Shows what an update would do. Asks the remote, but fetches and changes nothing. */
async function check({ source }: UpdateContext, { channel, ref }: UpdateRequest): Promise<Outcome> {
  const current = await source.installed(repositoryRoot);
  const target = await source.find({ channel, ref, current });
  const why = await source.whyNotYet(target);
  if (why !== null) throw new UpdateStopped(updateCodes.manual, why, { isRefused: true });
  const { name, commit } = target;
  return {
    code: updateCodes.ok,
    words: `There is an update from ${current.name} to ${name} (${commit.slice(0, 12)}). Run ./svc update.`,
    to: { name, commit },
  };
}

/**
 * Runs the update from a copy of this version outside the folder whose files it replaces; a rollback uses the copy too. Nothing is copied when
 * there is nothing to do or to repair.
 */
async function copyOfThis({ source, places }: UpdateContext, { channel, ref, rollback }: UpdateRequest): Promise<string> {
  const current = await source.installed(places.home);
  if (!rollback && !isOpen(places)) await source.find({ channel, ref, current });
  try {
    return await source.make(current.commit, places.home);
  } catch (error) {
    // The copy may have filled the disk.
    await source.remove(current.commit).catch(() => undefined); // then the next update does it
    const words = `What is installed could not be copied, so nothing was changed. ${errorText(error)}`;
    throw new UpdateStopped(updateCodes.manual, words, { cause: error });
  }
}

/** Replaces this process by the updater of the copy: the terminal or service manager keeps the same process. */
function goOnIn(copy: string): never {
  const main = path.join(copy, 'apps/cli/src/main.ts');
  const env = Object.entries(foreignEnv()).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const all = { ...Object.fromEntries(env), ...compileCacheOf(copy) };
  return process.execve!(process.execPath, [process.execPath, main, ...process.argv.slice(2)], all);
}

type Told = { isQuiet: boolean; progress: ProgressEvents };

function openContext(places: UpdatePlaces, settings: Settings, { isQuiet, progress }: Told): UpdateContext {
  const data = dataPaths(settings.dataDir);
  return {
    root: repositoryRoot,
    places,
    settings,
    data,
    source: openSource(places, repositoryRoot, settings),
    service: {
      ...watchService(data.supervisorState),
      hosts: () =>
        hostAddresses(settings)
          .filter(({ name }) => name !== 'vault' && !isOptional(name))
          .map(({ name }) => ({ name, url: serviceUrl(settings, name) })),
      coreUrl: () => serviceUrl(settings, 'core'),
      instances: () => listInstances({ url: serviceUrl(settings, 'manager'), token: settings.managerToken }, instancesMs),
      start: () => startInBackground(places),
    },
    say: (line) => void (isQuiet ? process.stderr : process.stdout).write(`${line}\n`),
    onPhase: progress.phase,
    now: Date.now,
  };
}

/** Used after the supervisor itself has ended: there is no terminal left for it. */
async function startInBackground(places: UpdatePlaces): Promise<void> {
  const log = openSync(path.join(places.folder, 'started.log'), 'a', 0o600);
  try {
    const child = spawn(path.join(places.home, 'svc'), ['up'], {
      env: foreignEnv(),
      detached: true,
      stdio: ['ignore', log, log],
    });
    await once(child, 'spawn');
    child.unref();
  } finally {
    closeSync(log);
  }
}
