import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRealManager, type OpenManager } from './open-manager.ts';
import { eventually } from './waiting.ts';

let manager: OpenManager;
beforeEach(async () => {
  manager = await openRealManager();
});
afterEach(() => manager.close());

const degraded = async () => ((await manager.call('GET', '/health')).body['degraded'] as string[] | undefined) ?? [];
const storage = (problems: string[]) => problems.filter((problem) => problem.includes('cannot write to'));

test('/health reports a full disk until a write succeeds again', async () => {
  const { db } = manager.context;
  const write = (value: string) => db.run("INSERT INTO meta (key, value) VALUES ('big', ?)", value);
  expect(storage(await degraded())).toEqual([]);
  db.raw.exec('PRAGMA max_page_count = 1'); // it stays as large as it is
  await expect(write('x'.repeat(100_000))).rejects.toThrow('full');
  expect(storage(await degraded())).toEqual([expect.stringContaining('database or disk is full')]);
  db.raw.exec('PRAGMA max_page_count = 1000000');
  await write('small');
  expect(storage(await degraded())).toEqual([]);
});

test('/health reports an instance whose log cannot be written', async () => {
  const logs = path.join(manager.dataDir, 'logs');
  rmSync(logs, { recursive: true });
  writeFileSync(logs, 'no folder');
  const config = { room: 'lobby', behaviour: 'speak' };
  await manager.call('POST', '/instances', { type: 'sample', name: 's', enabled: true, config });
  const problems = await eventually(degraded, (found) => found.some((problem) => problem.includes('has gaps')));
  expect(problems).toContainEqual(expect.stringMatching(/^the log of the instance "sample" cannot be written and has gaps \(/));
});
