import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

type Pin = { package: string; version: string; installArgs: readonly string[] };

/**
 * Installs the real engines where the tests look for them, in the versions that their drivers support. About 900 MB;
 * installed ones are kept. Engines are never dependencies of the service itself.
 */
const root = path.resolve(import.meta.dirname, '..');
const target = process.env.SVC_TEST_ENGINES ?? path.join(root, '.cache/engines');

for (const file of globSync('engines/*/src/pin.ts', { cwd: root }).toSorted()) {
  const { pin } = (await import(path.join(root, file))) as { pin: Pin };
  install(file.split(path.sep)[1] ?? '', pin);
}

function install(id: string, pin: Pin): void {
  const dir = path.join(target, id);
  if (installedVersion(dir, pin.package) === pin.version) return say(`${id}: ${pin.version} is installed already (${dir})`);
  say(`${id}: installing ${pin.package} ${pin.version} into ${dir} …`);
  const startedAt = Date.now();
  mkdirSync(dir, { recursive: true });
  if (!existsSync(path.join(dir, 'package.json'))) writeFileSync(path.join(dir, 'package.json'), '{ "private": true }\n');
  const args = [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--save-exact',
    ...pin.installArgs,
    `${pin.package}@${pin.version}`,
  ];
  const { status, error } = spawnSync('npm', args, { cwd: dir, stdio: 'inherit' });
  if (status !== 0) {
    process.exitCode = 1;
    return say(`${id}: npm failed (${error?.message ?? `code ${status}`})`);
  }
  say(`${id}: done in ${Math.round((Date.now() - startedAt) / 1000)} s`);
}

function installedVersion(dir: string, name: string): string | null {
  const manifest = path.join(dir, 'node_modules', name, 'package.json');
  if (!existsSync(manifest)) return null;
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
