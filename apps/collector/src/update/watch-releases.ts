import path from 'node:path';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { UpdateCheck } from '@svc/contract/update.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { CollectorSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { runProgram } from '@svc/service-kit/process/run-program.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { managerOf } from '@svc/service-kit/update/managed.ts';
import { startUpdater, updaterEnv } from '@svc/service-kit/update/start-updater.ts';
import { isHeldBack, isLeftOpen, runningUpdate, writeUpdateCheck } from '@svc/service-kit/update/update-files.ts';
import { installationHome, updatePlaces } from '@svc/service-kit/update/update-places.ts';
import { readUpdateSettings } from '@svc/service-kit/update/update-settings.ts';

type Deps = {
  settings: Pick<CollectorSettings, 'root' | 'dataDir' | 'updateManaged' | 'updateArchives'>;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Pick<Log, 'warn' | 'info'>;
  /** Starts the updater; replaced in tests. */
  start?: typeof startUpdater;
};

const everyMs = 15 * 60_000;
/** By then a newly installed version has shown whether it works. */
const repairMs = 60_000;
const checkMs = 2 * 60_000;

/**
 * Checks every 15 minutes for an update, as `svc update --check` does, and stores the result. If the operator has turned on automatic updates, the
 * update is installed, unless that version was rolled back or needs an action of a person first. Before each check, and a minute after the start, an
 * interrupted update is completed.
 */
export type ReleaseWatch = { close(): void };

export function watchReleases(deps: Deps): ReleaseWatch {
  const { clock, log } = deps;
  let isLooking = false;
  const warn = (error: unknown): void => log.warn({ err: errorText(error) }, 'checking for updates failed');
  const lookOnce = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    await look(deps).catch(warn);
    isLooking = false;
  };
  const cancelRepair = clock.after(repairMs, () => void repair(deps).catch(warn));
  const cancelLooks = clock.every(everyMs, () => void lookOnce());
  return {
    close() {
      cancelRepair();
      cancelLooks();
    },
  };
}

async function look(deps: Deps): Promise<void> {
  const { settings, env, clock, log, start = startUpdater } = deps;
  const { home, places, logFile } = placesOf(settings);
  if (managerOf(home, settings) !== null || runningUpdate(places) !== null || (await repair(deps))) return;
  const args = ['update', '--check', '--json'];
  const run = await runProgram(path.join(home, 'svc'), args, { cwd: home, env: updaterEnv(env), timeoutMs: checkMs });
  const check = toCheck(run.stdout, clock.now());
  if (check === null) throw new Error(`svc update --check ended with ${run.code ?? run.ending}: ${run.stderr.slice(-500)}`);
  writeUpdateCheck(settings.dataDir, check);
  if (check.code !== 0 || check.to === null || !readUpdateSettings(settings.dataDir).auto) return;
  if (isHeldBack(places, check.to.commit)) return;
  log.info({ to: check.to.name }, 'an update is being installed');
  await start({ home, logFile, env });
}

/** Completes an interrupted update. False if there is none. */
async function repair({ settings, env, log, start = startUpdater }: Deps): Promise<boolean> {
  const { home, places, logFile } = placesOf(settings);
  if (managerOf(home, settings) !== null || !isLeftOpen(places)) return false;
  log.info({}, 'an interrupted update is being completed');
  await start({ home, logFile, env, repair: true });
  return true;
}

function placesOf({ root, dataDir }: Deps['settings']) {
  const home = installationHome(root);
  return { home, places: updatePlaces(home), logFile: path.join(dataPaths(dataDir).logs, 'update.log') };
}

/** The result that `svc update --check --json` printed; null if the output is invalid. */
function toCheck(stdout: string, at: number): UpdateCheck | null {
  const found = parseJsonOrNull(stdout.trim().split('\n').at(-1) ?? '');
  if (!isRecord(found) || typeof found['code'] !== 'number' || typeof found['words'] !== 'string') return null;
  const to = found['to'];
  const isNamed = isRecord(to) && typeof to['name'] === 'string' && typeof to['commit'] === 'string';
  const { code, words } = found as { code: number; words: string };
  const refused = found['isRefused'] === true ? { refused: true } : {};
  return { code, words, to: isNamed ? (to as UpdateCheck['to']) : null, checked_at: at, ...refused };
}
