import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, it, onTestFinished, vi } from 'vitest';
import { findTypes, type SeenFolders } from '../src/connector-type/find-types.ts';

/** Loads only once there is a file deep in its folder, which no look at the folder sees. */
const moody = `
  import { existsSync } from 'node:fs';
  if (!existsSync(new URL('./deep/down/ready', import.meta.url))) throw new Error('not today');
  export const meta = { type: 'moody', displayName: 'Moody', supportsMultiple: true, capabilities: {}, credentialKeys: [],
    configSchema: { type: 'object', properties: {} }, outbound: false };`;

it('a type that could not be loaded is tried again after a while, although its folder is as it was', async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const own = path.join(folder.path, 'own');
  const dir = path.join(folder.path, 'added/moody');
  mkdirSync(path.join(dir, 'deep/down'), { recursive: true, mode: 0o755 });
  writeFileSync(path.join(dir, 'package.json'), '{"type":"module"}');
  writeFileSync(path.join(dir, 'index.js'), moody);
  const seen: SeenFolders = new Map();
  const find = () => findTypes(own, path.join(folder.path, 'added'), seen);

  expect((await find()).problems).toEqual([expect.stringContaining('not today')]);
  writeFileSync(path.join(dir, 'deep/down/ready'), '');
  // Not at once: one that never ends costs whoever asks five seconds.
  expect((await find()).problems).toHaveLength(1);
  vi.advanceTimersByTime(30_000);
  expect(await find()).toMatchObject({ types: [{ meta: { type: 'moody' } }], problems: [] });
});
