import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { SupervisorState } from '@svc/contract/service.ts';
import { dataPaths, type DataPaths } from '@svc/service-kit/config/data-dir.ts';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import { readEnv } from '@svc/service-kit/config/env-file.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { birthMark } from '@svc/service-kit/process/birth-mark.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { installationHome, updatePlaces } from '@svc/service-kit/update/update-places.ts';
import { CliError } from '../cli-error.ts';
import { repositoryRoot } from '../repository-root.ts';
import { dashboardAddress, hostAddresses, isOptional, type HostName } from '../service-urls.ts';
import { createStyle, print, printError, widthOf } from '../terminal.ts';
import { completeRestore } from '../up/complete-restore.ts';
import { awaitInstanceLock, awaitLeftovers, checkPorts } from '../up/before-start.ts';
import { awaitInstances, currentEngine, currentHealth, listKeyFiles, seededOwner, toBannerInstance } from '../up/ask-services.ts';
import { renderBanner, type BannerFacts } from '../up/banner.ts';
import { holdTurns } from '../up/hold-turns.ts';
import { hostEnv } from '../up/host-env.ts';
import type { WantedPort } from '../up/move-ports.ts';
import { createHosts, type Hosts } from '../up/hosts.ts';
import { againCode, launch } from '../up/launcher.ts';
import { takeLifeline, type Lifeline } from '../up/lifeline.ts';
import { createSuccessor, type Successor } from '../up/next-up.ts';
import { newSetupUrl } from '../up/new-setup-url.ts';
import { runUntilStopped } from '../up/run-until-stopped.ts';
import { sayItRuns } from '../up/say-it-runs.ts';
import { standBy, type StandBy } from '../up/stand-by.ts';
import { readPointer } from '../update/pointer.ts';
import { versionFolder } from '../update/version-folder.ts';
import { createStateFile, readLastState } from '../up/state-file.ts';

export type UpOptions = {
  root?: string;
  /** The module of each host process. */
  entryOf?: (name: HostName) => string;
  waitMs?: number;
  /** How long no process may be startable before the supervisor gives up. */
  spawnPatienceMs?: number;
};

const startWaitMs = 20_000;
const detailWaitMs = 5_000;

/**
 * Runs the service in the foreground until a signal. A second one on the same data folder reports the running one
 * and succeeds, because the requested state is reached.
 */
export async function up(options: UpOptions = {}): Promise<number> {
  const root = options.root ?? repositoryRoot;
  const home = installationHome(root);
  const places = updatePlaces(home);
  const current = readPointer(places);
  const lifeline = takeLifeline();
  // A version on trial is supervised by the launcher of the previous version.
  if (lifeline === null && current !== null && versionFolder(places, current) !== root) return launch(home);
  const successor = createSuccessor(home, lifeline);
  const code = await runHere(options, lifeline, successor);
  if (code === againCode && lifeline === null) return launch(home, { next: successor.take() });
  successor.take()?.end();
  return code;
}

async function runHere(
  { root = repositoryRoot, entryOf = entryIn(root), waitMs = startWaitMs, spawnPatienceMs }: UpOptions,
  lifeline: Lifeline | null,
  successor: Successor,
): Promise<number> {
  const env = readEnv(root);
  const settings: CliSettings = loadSettings(root, env);
  const paths = dataPaths(settings.dataDir);
  for (const dir of [paths.root, paths.run, paths.logs]) makePrivateDir(dir);
  const userProof = randomBytes(32).toString('base64url');
  const specsNow = () =>
    hostAddresses(settings).map(({ name, url }) => ({
      name,
      url,
      entry: entryOf(name),
      env: hostEnv(name, env, userProof),
      isOptional: isOptional(name),
    }));
  const ahead = await standBy(lifeline, specsNow(), settings.stopTimeoutMs);
  if (ahead === null) return exitCodes.ok;
  const begunAt = Date.now();
  const longestStopMs = settings.stopTimeoutMs + 2000;
  const lock = await awaitInstanceLock(paths, {
    waitMs: longestStopMs,
    onWait: () => print('Waiting for the service to stop …'),
  });
  if (lock === null) {
    ahead.end();
    return sayItRuns(paths, root);
  }
  try {
    const addresses = hostAddresses(settings);
    const entries = addresses.map(({ name }) => entryOf(name));
    await awaitLeftovers(readLastState(paths.supervisorState), {
      entries,
      home: installationHome(root),
      dataDir: paths.root,
      waitMs: longestStopMs,
      onWait: () => print('Waiting for processes of an earlier start to end …'),
    });
    const wanted = addresses.map((address) => ({ ...address, isOptional: isOptional(address.name) }));
    await checkPorts(settings.bindHost, [...wanted, ...seededPorts(settings, paths)]);
    for (const line of completeRestore(paths.root)) print(line);
    // Checked again: a restore may have brought a vault.
    const plan = { settings, paths, specs: specsNow(), begunAt, waitMs, spawnPatienceMs, lifeline, ahead, successor };
    return await supervise(plan);
  } finally {
    ahead.end();
    lock.release();
  }
}

const entryIn = (root: string) => (name: HostName) => path.join(root, 'apps', name, 'src', 'main.ts');

/** The first start creates an API instance on this port. Later the port is part of that instance's configuration. */
const seededPorts = ({ compatPort }: CliSettings, { managerDb }: DataPaths): WantedPort[] =>
  existsSync(managerDb) || compatPort === 0 ? [] : [{ name: 'API', port: compatPort, setting: 'SVC_COMPAT_PORT' }];

type Plan = {
  settings: CliSettings;
  paths: DataPaths;
  specs: Parameters<typeof createHosts>[0];
  begunAt: number;
  waitMs: number;
  spawnPatienceMs?: number;
  lifeline: Lifeline | null;
  ahead: StandBy;
  successor: Successor;
};

async function supervise(plan: Plan): Promise<number> {
  const { settings, paths, specs, begunAt } = plan;
  const born = birthMark(process.pid);
  const keeper = plan.lifeline === null ? { pid: process.pid, born } : { pid: process.ppid, born: birthMark(process.ppid) };
  let wasAskedToEnd = false;
  const before = { keyFiles: listKeyFiles(paths.instances), isFirstStart: !existsSync(paths.coreDb) };
  const snapshot = (): SupervisorState => ({
    pid: process.pid,
    born,
    started_at: begunAt,
    starts_again: true,
    kept_by: keeper,
    is_stopping: wasAskedToEnd,
    services: hosts.state(),
    faults: hosts.faults(),
  });
  const stateFile = createStateFile(paths.supervisorState, snapshot);
  const hosts = createHosts(specs, {
    logsDir: paths.logs,
    stopTimeoutMs: settings.stopTimeoutMs,
    onChange: () => stateFile.changed(),
    onEvent: (line) => print(`${new Date().toLocaleTimeString('en-GB')} ${line}`),
    onHopeless: (name, why) => life.giveUp(cannotGoOn(name, why)),
    spawnPatienceMs: plan.spawnPatienceMs,
    spawnOf: plan.ahead.spawnOf,
  });
  const life = runUntilStopped({
    stop: (isForNext) => hosts.stop(isForNext),
    killNow: () => hosts.killNow(),
    onStopping(why) {
      print(
        why === 'again' ? 'Restarting … (Ctrl-C ends everything at once)' : 'Stopping … (Ctrl-C again ends everything at once)',
      );
      wasAskedToEnd = why === 'asked';
      // Written before any process ends: an update in progress must not take that for a fault of the version.
      stateFile.write();
    },
    async beforeAgain() {
      await plan.successor.prepare();
      await holdTurns(specs.find(({ name }) => name === 'core')?.url ?? '');
    },
    againCode,
  });
  void plan.lifeline?.ended.then(() => life.stop());
  try {
    await Promise.race([hosts.start(plan.waitMs), life.ended]);
    if (!life.isStopping()) {
      const hopeless = whatFailed(hosts);
      if (hopeless !== null) {
        await hosts.stop();
        throw hopeless;
      }
      await showBanner(plan, hosts, before, life.isStopping).catch((error: unknown) =>
        printError(`The service is running, but its addresses cannot be shown (${errorText(error)}). Run: ./svc status`),
      );
    }
    const code = await life.ended;
    if (code === exitCodes.ok) print('Stopped.');
    return code;
  } finally {
    life.close();
    stateFile.remove();
  }
}

/** A supervisor that cannot start any process must not stay up as if all were well; its parent sees the exit code. */
const cannotGoOn = (name: HostName, why: string): CliError =>
  new CliError(`${name} ${why}.`, {
    why: 'No process could be started for a minute, so all were stopped. Node may be missing, or this user may have reached the limit of open files or processes.',
    run: './svc up',
    exitCode: exitCodes.failed,
  });

/** At the start, a host that cannot run ends everything: a person is present to fix it. */
function whatFailed(hosts: Hosts): CliError | null {
  const failed = hosts.state().filter(({ status }) => status === 'failed');
  if (failed.length === 0) return null;
  const first = failed[0] as SupervisorState['services'][number];
  return new CliError(`${failed.map(({ name }) => name).join(' and ')} could not start.`, {
    why: failed.map(({ name, last_exit }) => `${name} ${last_exit?.reason ?? 'failed'}`).join('\n'),
    run: `./svc logs ${first.name}`,
    exitCode: first.last_exit?.code || exitCodes.failed,
  });
}

async function showBanner(
  { settings, paths, specs, begunAt }: Plan,
  hosts: Hosts,
  { keyFiles, isFirstStart }: { keyFiles: ReadonlySet<string>; isFirstStart: boolean },
  isStopping: () => boolean,
): Promise<void> {
  const urlOf = (name: HostName) => specs.find((spec) => spec.name === name)?.url ?? '';
  const [instances, engine, services, owner] = await Promise.all([
    awaitInstances({ url: urlOf('manager'), token: settings.managerToken }, detailWaitMs).then((found) => ({
      found,
      at: Date.now(),
    })),
    currentEngine(urlOf('core'), detailWaitMs),
    Promise.all(hosts.state().map((host) => toBannerService(host, settings))),
    isFirstStart ? seededOwner(urlOf('core'), detailWaitMs) : null,
  ]);
  // It was stopped in the meantime, so a set-up link would lead nowhere.
  if (isStopping()) return;
  const facts = {
    version: readFileSync(path.join(settings.root, 'VERSION'), 'utf8').trim(),
    readyMs: instances.at - begunAt,
    dataDir: paths.root,
    services,
    instances: await Promise.all(instances.found.map((instance) => toBannerInstance(instance, paths.instances, keyFiles))),
    owner,
    engine,
    setupUrl: isFirstStart && services.some(showsSetup) ? newSetupUrl(settings, paths.run) : null,
  };
  print(renderBanner(facts, createStyle(process.stdout), widthOf(process.stdout)));
}

/** Another program may use the port of a dashboard that has ended: it must not receive the token. */
const showsSetup = ({ name, status, reason }: BannerFacts['services'][number]) =>
  name === 'dashboard' && (status === 'running' || reason === null);

async function toBannerService({ name, url: at, status, last_exit }: SupervisorState['services'][number], settings: CliSettings) {
  const { faults, notices } = status === 'running' ? await currentHealth(at, detailWaitMs) : { faults: [], notices: [] };
  const url = name === 'dashboard' ? dashboardAddress(settings) : at;
  // A vault starts sealed. Other notices can wait for ./svc status.
  return { name, url, status, reason: last_exit?.reason ?? null, faults, notices: name === 'vault' ? notices : [] };
}
