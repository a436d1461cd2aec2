import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createStateFile, readSupervisorState } from './state-file.ts';

let folder: TemporaryFolder;
let dir = '';
beforeEach(() => {
  folder = temporaryFolder();
  dir = folder.path;
});
afterEach(() => {
  vi.restoreAllMocks();
  folder.remove();
});

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const snapshot = () => ({ pid: process.pid, started_at: 1, services: [], faults: [] });

test('the state file is written after a change and removed at the end', async () => {
  const file = path.join(dir, 'supervisor.json');
  const state = createStateFile(file, snapshot);
  state.changed();
  await nextTurn();
  expect(readSupervisorState(file)?.pid).toBe(process.pid);
  state.remove();
  expect(readdirSync(dir)).toEqual([]);
});

test('a temporary file left by a killed supervisor is removed', () => {
  for (const name of ['supervisor.json.123.tmp', 'other.json.123.tmp']) writeFileSync(path.join(dir, name), 'half');
  createStateFile(path.join(dir, 'supervisor.json'), snapshot);
  expect(readdirSync(dir)).toEqual(['other.json.123.tmp']);
});

test('a state file that cannot be written does not end the supervisor', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const state = createStateFile(path.join(dir, 'gone', 'supervisor.json'), snapshot);
  state.changed();
  await nextTurn();
  state.changed();
  await nextTurn();
  expect(said).toHaveBeenCalledOnce();
  expect(String(said.mock.calls[0]?.[0])).toContain('cannot be written');
});

test('an unreadable state file is read as null', () => {
  expect(readSupervisorState(path.join(dir, 'x'.repeat(300)))).toBeNull();
  expect(readSupervisorState(dir)).toBeNull();
});
