import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { webToolsFolder } from '@svc/service-kit/packages/build-web-app.ts';
import { hasPackages } from '@svc/service-kit/packages/install-packages.ts';
import { linkTree } from '../src/update/link-tree.ts';

const repositoryRoot = path.resolve(import.meta.dirname, '../../..');

/** What git knows here, with what is not committed yet. */
export function copySources(to: string, isWanted: (name: string) => boolean = () => true): void {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: repositoryRoot,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  for (const name of new Set(listed.split('\0'))) {
    const file = path.join(repositoryRoot, name);
    if (name === '' || !existsSync(file) || !isWanted(name)) continue;
    mkdirSync(path.dirname(path.join(to, name)), { recursive: true });
    copyFileSync(file, path.join(to, name));
  }
}

type Locked = { dev?: boolean; link?: boolean; resolved?: string };

/** As `svc` would have set them up for a service, without asking any registry: not what tests and checks need, which is three times as much. */
export function takeDependencies(to: string): void {
  const lock = path.join(repositoryRoot, 'package-lock.json');
  const { packages } = JSON.parse(readFileSync(lock, 'utf8')) as { packages: Record<string, Locked> };
  for (const [place, { dev = false, link = false, resolved = '' }] of Object.entries(packages)) {
    const target = path.join(to, place);
    if (!place.includes('node_modules/') || dev || existsSync(target) || !existsSync(path.join(repositoryRoot, place))) continue;
    if (link) {
      mkdirSync(path.dirname(target), { recursive: true });
      symlinkSync(path.relative(path.dirname(target), path.join(to, resolved)), target);
    } else linkTree(path.join(repositoryRoot, place), target, false);
  }
  copyFileSync(path.join(to, 'package-lock.json'), path.join(to, 'node_modules/.svc-lock'));
  writeFileSync(path.join(to, 'node_modules/.svc-level'), 'production\n');
}

/** What builds web pages, where it is set up here: else whoever builds them sets it up. */
export function takeWebTools(to: string): void {
  const tools = webToolsFolder(repositoryRoot);
  if (hasPackages({ lockFolder: repositoryRoot, folder: tools })) linkTree(tools, webToolsFolder(to));
}

/** The Node that is set up here, where there is one: else that of the machine does. */
export function takeNode(to: string): void {
  const runtime = path.join(repositoryRoot, '.runtime/node_modules');
  if (!existsSync(runtime)) return;
  linkTree(runtime, path.join(to, '.runtime/node_modules'));
  copyFileSync(path.join(to, 'runtime/package-lock.json'), path.join(to, '.runtime/.svc-lock'));
}
