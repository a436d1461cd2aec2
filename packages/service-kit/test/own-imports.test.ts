import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';

const module = pathToFileURL(path.join(repositoryRoot, 'packages/service-kit/src/own-imports.ts')).href;
/** Runs `findOwnModules()` before a program, as our programs do first. */
const hook = `data:text/javascript,import{findOwnModules}from"${module}";findOwnModules()`;

const sources = ['apps', 'connectors', 'engines', 'packages'].flatMap((group) =>
  readdirSync(path.join(repositoryRoot, group), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('node_modules') && !file.includes('/dist/'))
    .map((file) => path.join(repositoryRoot, group, file)),
);

/** Prints what each import of each file resolves to. */
const program = `
  import { readFileSync } from 'node:fs';
  import { pathToFileURL } from 'node:url';
  const imported = /^(?:import|export)\\s[^'"();]*?from\\s+'([^']+)'|^import\\s+'([^']+)'|\\bimport\\('([^']+)'\\)/gm;
  const files = readFileSync(0, 'utf8').split('\\n');
  const found = [];
  for (const file of files)
    for (const [, a, b, c] of readFileSync(file, 'utf8').matchAll(imported)) {
      const specifier = a ?? b ?? c;
      if (!specifier.startsWith('.') && !specifier.startsWith('@svc/')) continue;
      let to;
      try { to = import.meta.resolve(specifier, pathToFileURL(file).href); } catch (error) { to = error.code; }
      found.push([file, specifier, to]);
    }
  process.stdout.write(JSON.stringify(found));
`;

const resolved = (...flags: string[]): [file: string, specifier: string, to: string][] => {
  const args = ['--experimental-import-meta-resolve', ...flags, '--input-type=module', '-e', program];
  return JSON.parse(
    execFileSync(process.execPath, args, { input: sources.join('\n'), encoding: 'utf8', maxBuffer: 2 ** 26 }),
  ) as never;
};

test('each import of our sources resolves as it does with Node alone', () => {
  const byNode = resolved();
  expect(byNode.length).toBeGreaterThan(3000);
  expect(resolved('--import', hook)).toEqual(byNode);
});

test("a connector's own copy of a package takes precedence over ours", () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const own = path.join(folder.path, 'node_modules/@svc/connector-kit');
  const entry = path.join(folder.path, 'index.ts');
  mkdirSync(own, { recursive: true });
  writeFileSync(path.join(own, 'package.json'), '{"name":"@svc/connector-kit","type":"module","exports":{"./*":"./*"}}');
  writeFileSync(path.join(own, 'a.ts'), '');
  writeFileSync(entry, `console.log(import.meta.resolve('@svc/connector-kit/a.ts'));`);
  const out = execFileSync(process.execPath, ['--import', hook, entry], { encoding: 'utf8' });
  expect(out.trim()).toBe(pathToFileURL(path.join(own, 'a.ts')).href);
});

test('names a missing module', () => {
  const text = `await import('@svc/service-kit/not-there.ts').catch((error) => console.log(error.message));`;
  const args = ['--import', hook, '--input-type=module', '-e', text];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8', cwd: repositoryRoot })).toContain('not-there.ts');
});
