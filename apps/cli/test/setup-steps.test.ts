import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { runSetupSteps } from '../src/update/setup-steps.ts';

let folder: TemporaryFolder;
let said: string[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  said = [];
  mkdirSync(path.join(folder.path, 'scripts/setup-steps'), { recursive: true });
});
afterEach(() => folder.remove());

const step = (name: string, text: string): void =>
  writeFileSync(
    path.join(folder.path, 'scripts/setup-steps', name),
    `#!/bin/sh\necho ${name} >>'${folder.path}/ran'\n${text}\n`,
    { mode: 0o755 },
  );
const run = () => runSetupSteps({ root: folder.path, dataDir: folder.path, say: (line) => void said.push(line), now: () => 1 });
const ran = (): string[] =>
  existsSync(path.join(folder.path, 'ran')) ? readFileSync(path.join(folder.path, 'ran'), 'utf8').trim().split('\n') : [];

test('applies each step that exits with 0 once, in order', async () => {
  step('002-b', 'exit 0');
  step('001-a', 'exit 0');
  await run();
  await run();
  expect(ran()).toEqual(['001-a', '002-b']);
});

test('retries a step that does not apply silently, and a failed one with a message; neither stops the others', async () => {
  step('001-later', 'exit 75');
  step('002-bad', 'echo no room >&2; exit 1');
  step('003-killed', 'kill -9 $$');
  step('004-good', 'exit 0');
  await run();
  expect(said).toHaveLength(3);
  expect(said[0]).toContain('002-bad failed, and is tried again by the next update: no room');
  await run();
  expect(ran()).toEqual(['001-later', '002-bad', '003-killed', '004-good', '001-later', '002-bad', '003-killed']);
});

test('ignores other files, and accepts a version without steps', async () => {
  writeFileSync(path.join(folder.path, 'scripts/setup-steps/README.md'), 'none');
  await run();
  expect(ran()).toEqual([]);
  await runSetupSteps({ root: path.join(folder.path, 'none'), dataDir: folder.path, say: () => undefined, now: () => 1 });
});
