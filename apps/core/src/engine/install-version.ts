import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { engineEnv } from '@svc/engine-kit/engine-env.ts';
import type { Engine } from '@svc/engine-kit/engine.ts';
import { runProgram } from '@svc/service-kit/process/run-program.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { counted } from '@svc/service-kit/words.ts';
import type { EnginePackage } from './load-engine.ts';
import { runNpm } from './npm.ts';
import type { VersionFolders } from './version-folders.ts';

export type InstallPlan = {
  pin: EnginePackage;
  /** Exact; the pinned one or a newer one. */
  version: string;
  folders: VersionFolders;
  env: Readonly<Record<string, string | undefined>>;
  registry: string | null;
  signal: AbortSignal;
  /** Creates the engine from a folder, with its own state, so that it can be probed. */
  makeAt(folder: string, stateDir: string): Promise<Engine>;
  onStep(step: string): void;
};

const timeoutMs = 20 * 60_000;
const testMs = 20_000;

/**
 * Installs a version into a folder of its own, beside the others, and tests it. Nothing points to it yet.
 * @throws ServiceError when it cannot be downloaded or fails its test; it is then removed.
 */
export async function installVersion(plan: InstallPlan): Promise<void> {
  const staging = plan.folders.newStaging();
  try {
    await fetchPackages(plan, staging);
    plan.onStep('testing it');
    await checkEngine(plan, staging);
    plan.folders.adopt(staging, plan.version);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

async function fetchPackages({ pin, version, env, registry, signal, onStep }: InstallPlan, folder: string): Promise<void> {
  // It needs its own package.json: otherwise npm searches the parent folders for one.
  writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n', { mode: 0o600 });
  const wanted = `${pin.package}@${version}`;
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', '--loglevel=http', '--fetch-retries=2'];
  let fetched = 0;
  onStep(`fetching ${wanted}`);
  await runNpm(['install', '--prefix', folder, ...flags, ...pin.installArgs, wanted], {
    cwd: folder,
    env,
    registry,
    signal,
    timeoutMs,
    onLine(line) {
      if (line.startsWith('npm http fetch GET 200 ')) onStep(`fetching ${wanted}: ${counted((fetched += 1), 'file')} so far`);
    },
  });
}

/** Probes the engine and asks its program for its version: a broken one answers neither. */
async function checkEngine({ pin, version, env, makeAt }: InstallPlan, folder: string): Promise<void> {
  const stateDir = path.join(folder, '.test');
  mkdirSync(stateDir, { mode: 0o700 });
  const engine = await makeAt(folder, stateDir);
  try {
    const { installed, program, reason, version: found } = await engine.probe();
    if (!installed || program === undefined) throw failed(pin, version, reason);
    if (found !== version) throw failed(pin, version, `it reports ${found ?? 'no version'}`);
    const [command = '', ...args] = program;
    const ran = await runProgram(command, [...args, '--version'], {
      env: engineEnv(env, stateDir),
      cwd: stateDir,
      timeoutMs: testMs,
    });
    if (ran.code !== 0) throw failed(pin, version, `its program ended with ${ran.code ?? 'a signal'}: ${ran.stderr}`);
  } finally {
    await engine.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** A version that is installed but does not work, and would not work next time either. */
export class BrokenVersion extends ServiceError {
  constructor(what: string, why: string) {
    super('upstream', `${what} does not work: ${why}`);
  }
}

const failed = (pin: EnginePackage, version: string, why: string) => new BrokenVersion(`${pin.package} ${version}`, why);
