import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { tryOnCopies } from '../src/update/dry-run.ts';
import { BrokenVersion } from '../src/update/version-folder.ts';

const commit = 'a'.repeat(40);

/** A version in one program, whose processes are healthy and report the given commits; it also answers messages. */
function versionOf(shas: { core: string; manager: string; collector: string }): string {
  const { path: folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const program = path.join(folder, 'program.mjs');
  writeFileSync(
    program,
    `import { createServer } from 'node:http';
    for (const [name, sha] of Object.entries(${JSON.stringify(shas)}))
      createServer((request, response) => response.end(JSON.stringify(request.url === '/version' ? { sha } : { status: 'ok' })))
        .listen(Number(process.env['SVC_' + name.toUpperCase() + '_PORT']), '127.0.0.1');`,
  );
  const svc = `#!/bin/sh\ncase $1 in up) exec '${process.execPath}' '${program}' ;; *) echo '{"result":1}' ;; esac\n`;
  writeFileSync(path.join(folder, 'svc'), svc, { mode: 0o755 });
  return folder;
}

async function tried(shas: Parameters<typeof versionOf>[0]): Promise<unknown> {
  const { path: data, remove } = temporaryFolder();
  onTestFinished(remove);
  mkdirSync(path.join(data, 'used'));
  const databases = dataPaths(path.join(data, 'used'));
  const run = { folder: versionOf(shas), commit, work: path.join(data, 'work'), databases, bindHost: '127.0.0.1' };
  return tryOnCopies({ ...run, unwell: new Set() }).catch((error: unknown) => error);
}

test('a dry run passes only if every process is healthy and of the expected commit', async () => {
  const right = { core: commit, manager: commit, collector: commit };
  const other = 'f'.repeat(40);
  const all = [right, { ...right, core: other }, { ...right, manager: other }, { ...right, collector: other }];
  const [well, ...wrong] = await Promise.all(all.map(tried));
  expect(well).toBeUndefined();
  const named = ['core', 'manager', 'collector'].map((name) => `the ${name} runs commit ffffffffffff, not aaaaaaaaaaaa`);
  expect(wrong.map((error) => (error as Error).message)).toEqual(named);
  expect(wrong.every((error) => error instanceof BrokenVersion)).toBe(true);
});
