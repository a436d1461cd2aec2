import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Instance } from '@svc/contract/instance.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { giveCompiledKit, openKitManager, type OpenManager } from './open-manager.ts';

let manager: OpenManager;
let outside: TemporaryFolder;
beforeEach(async () => {
  manager = await openKitManager();
  giveCompiledKit(manager.dataDir, 'curious');
  // The folder for temporary files may be in /dev, which no connector may open.
  outside = temporaryFolder('/var/tmp');
  writeFileSync(path.join(outside.path, 'file'), 'what lies outside');
});
afterEach(async () => {
  await manager.close();
  outside.remove();
});

/** A type whose start does `work` with the path that its config holds. */
function put(work: string, permissions: object): void {
  const folder = path.join(manager.dataDir, 'connectors/curious');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(
    path.join(folder, 'index.js'),
    `import fs from 'node:fs';
     export const meta = { type: 'curious', displayName: 'Curious', supportsMultiple: true, capabilities: {}, credentialKeys: [],
       configSchema: { type: 'object', properties: { place: { type: 'string', title: 'Place' } } }, outbound: false,
       permissions: ${JSON.stringify(permissions)} };
     export async function start(ctx) {
       const { place } = ctx.config;
       ${work};
       return { async stop() {}, health: () => ({ healthy: true }) };
     }`,
  );
}

async function start(place: string): Promise<string> {
  const body = { type: 'curious', name: 'c', enabled: true, config: { place } };
  const { id, status, last_exit: last } = (await manager.call('POST', '/instances', body)).body['instance'] as Instance;
  // One that failed would be started again and again meanwhile.
  await manager.call('DELETE', `/instances/${id}`);
  return last === null ? status : last.reason;
}

const reading = 'fs.readFileSync(place)';
const writing = "fs.writeFileSync(place + '/new', 'x'); fs.readFileSync(place + '/new')";

describe('a path in the config of a connector', () => {
  test('cannot be read unless the type asks for the field, and the failed start says so', async () => {
    put(reading, {});
    expect(await start(path.join(outside.path, 'file'))).toMatch(/^It may not read .*file\. .* meta\.permissions/);
  });

  test('can be read or written as the type asks', async () => {
    const file = path.join(outside.path, 'file');
    put(reading, { read: ['place'] });
    expect(await start(file)).toBe('running');
    put("fs.writeFileSync(place, 'x')", { read: ['place'] });
    expect(await start(file)).toMatch(/^It may not write /);
    put("fs.writeFileSync(place + '.tmp', 'y'); fs.renameSync(place + '.tmp', place)", { write: ['place'] });
    expect(await start(file)).toBe('running');
    put(writing, { write: ['place'] });
    expect(await start(outside.path)).toBe('running');
    // A folder that is not there yet, and one in the instance's own.
    put(`fs.mkdirSync(place, { recursive: true }); ${writing}`, { write: ['place'] });
    expect(await start(path.join(outside.path, 'not/yet'))).toBe('running');
    put(`fs.mkdirSync(place, { recursive: true }); ${writing}`, {});
    expect(await start('photos')).toBe('running');
  });

  test('never gives access to files of the service, of other instances or of the system', async () => {
    const closed = {
      'the data folder': manager.dataDir,
      'a folder around it': path.dirname(manager.dataDir),
      'the secrets': path.join(manager.dataDir, 'secrets.json'),
      'another instance': path.join(manager.dataDir, 'instances/other'),
      'the code of connectors': path.join(manager.dataDir, 'connectors/curious'),
      'what processes show': '/proc/1',
      everything: '/',
    };
    for (const permissions of [{ read: ['place'] }, { write: ['place'] }]) {
      put('', permissions);
      for (const [name, place] of Object.entries(closed)) {
        const why = await start(place);
        expect([name, permissions, why]).toEqual([name, permissions, expect.stringContaining('cannot be opened to a connector')]);
      }
    }
  });

  test('is refused if Node would read it as a pattern', async () => {
    put('', { read: ['place'] });
    expect(await start(path.join(outside.path, 'a*b'))).toContain('because of the "*"');
  });
});

test('a connector starts, though more slowly, where its compiled code cannot be kept', async () => {
  rmSync(path.join(manager.dataDir, 'cache'), { recursive: true, force: true });
  writeFileSync(path.join(manager.dataDir, 'cache'), 'in the way');
  put('', {});
  expect(await start('')).toBe('running');
});

describe('a feature that Node cannot confine', () => {
  const run = "(await import('node:child_process')).execFileSync('true')";
  test.each([
    ['child-process', run],
    ['worker', "await (new (await import('node:worker_threads')).Worker('1', { eval: true })).terminate()"],
    ['sqlite', "new (await import('node:sqlite')).DatabaseSync(':memory:').close()"],
  ])('is available only to a type that asks for it: %s', async (permission, work) => {
    put(work, {});
    expect(await start('x')).not.toBe('running');
    put(work, { allow: [permission] });
    expect(await start('x')).toBe('running');
  });
});
