import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildWebApp, webAppFolder, webApps, type WebApp } from '@svc/service-kit/packages/build-web-app.ts';
import { releaseFile, type ReleaseInfo } from '@svc/service-kit/update/release-info.ts';

type Staging = {
  /** The sources: a clone of which every file that git knows is taken. */
  root: string;
  /** A folder that does not exist yet. */
  stage: string;
  info: ReleaseInfo;
};

/** What only those need who work on the sources. */
const leftOut = [/^bench\//, /^\.(?:ci\/|ox)/, /^(?:[^/]+\/[^/]+\/)?test\//, /\.test\.tsx?$/, /^packages\/testing\/src\//];

/** Puts all that an installation is into one folder: sources, dependencies, Node, web apps. Nothing is left to be set up there. */
export async function stageRelease({ root, stage, info }: Staging): Promise<void> {
  const apps = Object.keys(webApps) as WebApp[];
  for (const app of apps) await buildWebApp({ root, app, env: process.env, registry: null, onStep: () => undefined });
  for (const name of filesOf(root)) {
    if (leftOut.some((pattern) => pattern.test(name)) || isBuilt(name)) continue;
    mkdirSync(path.dirname(path.join(stage, name)), { recursive: true });
    copyFileSync(path.join(root, name), path.join(stage, name));
  }
  for (const app of apps) cpSync(webAppFolder(root, app), webAppFolder(stage, app), { recursive: true });
  installNode(stage, info.platform);
  installDependencies(stage);
  writeFileSync(path.join(stage, releaseFile), `${JSON.stringify(info, null, 2)}\n`);
}

const filesOf = (root: string): string[] =>
  execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
    .split('\0')
    .filter((name) => name !== '');

/** Sources of the web apps: what is made of them is there in their place, and counts as it is. */
const isBuilt = (name: string): boolean => Object.values(webApps).some((folder) => name.startsWith(`${folder}/src/`));

/** As `svc` gets it, stamp and all; for any platform, for nothing of it is run. Headers and manuals stay away. */
function installNode(stage: string, platform: string): void {
  const runtime = path.join(stage, '.runtime');
  mkdirSync(runtime, { recursive: true });
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(path.join(stage, 'runtime', file), path.join(runtime, file));
  const [os = '', cpu = ''] = platform.split('-');
  npm(runtime, ['ci', '--include=optional', `--os=${os}`, `--cpu=${cpu}`]);
  for (const name of packagesIn(runtime))
    for (const unused of ['include', 'share'])
      rmSync(path.join(runtime, 'node_modules', name, unused), { recursive: true, force: true });
  copyFileSync(path.join(stage, 'runtime/package-lock.json'), path.join(runtime, '.svc-lock'));
}

const packagesIn = (folder: string): string[] =>
  readdirSync(path.join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));

/** As `svc` does; the stamp comes last there, too. No dependency of the lock is for one platform only (test/pins.test.ts). */
function installDependencies(stage: string): void {
  npm(stage, ['ci', '--omit=dev']);
  writeFileSync(path.join(stage, 'node_modules/.svc-level'), 'production\n');
  copyFileSync(path.join(stage, 'package-lock.json'), path.join(stage, 'node_modules/.svc-lock'));
}

function npm(cwd: string, args: readonly string[]): void {
  execFileSync('npm', [...args, '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
