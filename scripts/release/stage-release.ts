import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildWebApp, webAppFolder, webApps, type WebApp } from '@svc/service-kit/packages/build-web-app.ts';
import { releaseFile, type ReleaseInfo } from '@svc/service-kit/update/release-info.ts';

type Staging = {
  /** The sources: a clone, whose tracked files are copied. */
  root: string;
  /** A folder that does not exist yet. */
  stage: string;
  info: ReleaseInfo;
};

/** Files that are only for development. */
const leftOut = [/^bench\//, /^\.(?:ci\/|ox)/, /^(?:[^/]+\/[^/]+\/)?test\//, /\.test\.tsx?$/, /^packages\/testing\/src\//];

/** Puts a complete installation into one folder: sources, dependencies, Node, web apps. Nothing has to be set up later. */
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

/** Sources of the web apps, which are replaced by their builds. */
const isBuilt = (name: string): boolean => Object.values(webApps).some((folder) => name.startsWith(`${folder}/src/`));

/** Installs Node as `svc` does, with its stamp. Works for any platform, because it is not run. Headers and manuals are removed. */
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

/** Installs the dependencies as `svc` does, with the stamp last. None of them is for one platform only (test/pins.test.ts). */
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
