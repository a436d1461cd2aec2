import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { updatePlaces } from '@svc/service-kit/update/update-places.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import type { SupervisorState } from '@svc/contract/service.ts';
import { beginTrial, readPointer, readTrial, revertTrial } from '../src/update/pointer.ts';
import { type Journal, readJournal } from '../src/update/journal.ts';
import { repairUpdate } from '../src/update/repair-update.ts';
import { goBack, switchTo, verify } from '../src/update/switch-to.ts';
import type { UpdateContext } from '../src/update/update-context.ts';

const commit = 'a'.repeat(40);

/** A process of a version on trial; `isSilent` says which requests for its health get no answer. */
async function openHost(isSilent: (asked: number) => boolean): Promise<string> {
  let asked = 0;
  const server: Server = createServer((request, response) => {
    if (request.url === '/version') return void response.end(JSON.stringify({ sha: commit }));
    asked += 1;
    if (!isSilent(asked)) response.end(JSON.stringify({ status: 'ok' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function contextOf(url: string): UpdateContext {
  const home = temporaryFolder();
  onTestFinished(home.remove);
  const places = updatePlaces(home.path);
  mkdirSync(path.join(places.versions, commit), { recursive: true });
  writeFileSync(path.join(places.versions, commit, 'svc'), `#!/bin/sh\necho '{"result":1}'\n`, { mode: 0o755 });
  beginTrial(places, commit);
  const service = { read: () => null, isStopped: () => false, hosts: () => [{ name: 'core', url }] };
  return { places, service, settings: { updateVerifyMs: 100 } } as unknown as UpdateContext;
}

test('a version passes when a process misses one health check, but not when it never answers', async () => {
  const [busy, silent] = await Promise.all([openHost((asked) => asked === 1), openHost(() => true)]);
  const found = await Promise.all([busy, silent].map((url) => verify(contextOf(url), commit, new Set())));
  expect(found).toEqual([null, expect.stringContaining('the core does not answer')]);
}, 30_000);

test('starts nothing when the supervisor has already gone back itself', async () => {
  const context = contextOf(await openHost(() => false));
  revertTrial(context.places, 'The new version ended with exit code 78.');
  let looks = 0;
  const started: string[] = [];
  Object.assign(context, { say: () => undefined });
  Object.assign(context.service, {
    // The process that was started has to load first.
    read: () => ((looks += 1) < 4 ? null : ({ pid: process.pid } as SupervisorState)),
    start: async () => void started.push('another'),
  });
  const journal = { from: { commit, version: '1.0.0', name: '1.0.0' } } as Journal;
  const { result } = await goBack(context, { journal, why: 'it ended by itself', unwell: new Set() });
  expect([result, started]).toEqual(['reverted', []]);
});

test('does not start a service that was stopped during the update, and does not wait', async () => {
  const context = contextOf(await openHost(() => false));
  const started: string[] = [];
  Object.assign(context, { say: () => undefined });
  Object.assign(context.service, { isStopped: () => true, start: async () => void started.push('another') });
  const journal = { from: { commit, version: '1.0.0', name: '1.0.0' } } as Journal;
  const { result } = await goBack(context, { journal, why: 'the service was stopped', unwell: new Set() });
  expect([result, started, readTrial(context.places), readPointer(context.places)]).toEqual(['stopped', [], null, null]);
});

/** A running service, whose state can no longer be read once the new version is on trial. */
function failingContext(coreUrl: string): UpdateContext {
  const home = temporaryFolder();
  onTestFinished(home.remove);
  const places = updatePlaces(home.path);
  const read = (): SupervisorState => {
    if (readTrial(places) !== null) throw new Error('no space left on device');
    return { pid: process.pid, started_at: 0, services: [], faults: [] };
  };
  const service = { read, isStopped: () => false, hosts: () => [], instances: async () => [], coreUrl: () => coreUrl };
  const settings = { stopTimeoutMs: 100 };
  return { places, service, settings, say: () => undefined, onPhase: () => undefined } as unknown as UpdateContext;
}

const version = { commit, version: '1.0.0', name: '1.0.0' };
const trying: Journal = { id: 'x', startedAt: 1, phase: 'trying', from: version, to: version, isEdge: false, isRollback: false };

test('no longer watches the core after the switch has failed', async () => {
  let asked = 0;
  const url = await openHost(() => {
    asked += 1;
    return false;
  });
  await expect(switchTo(failingContext(url), trying)).rejects.toThrow('no space left');
  let before = -1;
  const isQuiet = () => {
    const isSame = asked === before;
    before = asked;
    return isSame;
  };
  await expect.poll(isQuiet, { interval: 200 }).toBe(true);
});

test('an update cut off just before its trial says nothing about the version, even when an earlier one was rolled back', async () => {
  const context = failingContext(await openHost(() => false));
  const { places } = context;
  Object.assign(context.service, { read: () => null });
  mkdirSync(places.folder, { recursive: true });
  writeFileSync(places.reverted, 'The new version ended with exit code 1.\n');
  const cutOff = {
    ...places,
    get reverted(): string {
      if (readJournal(places) !== null) throw new Error('cut off');
      return places.reverted;
    },
  };
  await expect(switchTo({ ...context, places: cutOff }, trying)).rejects.toThrow('cut off');
  expect(await repairUpdate(context)).toContain('was interrupted before anything was changed');
});
