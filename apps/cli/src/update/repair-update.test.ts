import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { SupervisorState } from '@svc/contract/service.ts';
import { updatePlaces } from '@svc/service-kit/update/update-places.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { endJournal, type Journal, readJournal, writeJournal } from './journal.ts';
import { readLastUpdate } from './last-update.ts';
import { beginTrial, readPointer, readTrial, revertTrial } from './pointer.ts';
import { repairUpdate } from './repair-update.ts';
import type { UpdateContext } from './update-context.ts';

const [older, newer] = ['a', 'b'].map((letter) => letter.repeat(40)) as [string, string];
const version = (commit: string) => ({ commit, version: commit[0] ?? '', name: commit[0] ?? '' });

/** An update interrupted with the newer version on trial. `runs`: the running version at the repair. `replies`: whether it answers. */
async function openContext(runs: string | null, replies = true): Promise<UpdateContext> {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const places = updatePlaces(folder.path);
  mkdirSync(path.join(places.versions, newer), { recursive: true });
  writeFileSync(path.join(places.versions, newer, 'svc'), `#!/bin/sh\n${replies ? `echo '{"result":1}'` : 'exit 1'}\n`, {
    mode: 0o755,
  });
  beginTrial(places, newer);
  writeJournal(places, {
    id: 'x',
    startedAt: 1,
    phase: 'trying',
    from: version(older),
    to: version(newer),
    isEdge: false,
    isRollback: false,
    unwell: [],
  });
  // After a requested restart the version of the pointer runs.
  let isAgain = false;
  process.on('SIGUSR2', asked);
  onTestFinished(() => void process.removeListener('SIGUSR2', asked));
  function asked(): void {
    isAgain = true;
  }
  const server = createServer((request, response) => {
    const sha = isAgain ? (readPointer(places) ?? older) : runs;
    response.end(JSON.stringify(request.url === '/version' ? { sha } : { status: 'ok' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const read = (): SupervisorState | null =>
    runs === null ? null : { pid: process.pid, started_at: Number(isAgain), services: [], faults: [] };
  const service = { read, isStopped: () => false, hosts: () => [{ name: 'core', url }] };
  const source = { settle: async () => null, remove: async () => undefined };
  const settings = { updateVerifyMs: 50, stopTimeoutMs: 100 };
  const rest = { data: { root: folder.path }, root: folder.path, say: () => undefined, onPhase: () => undefined, now: () => 2 };
  return { places, service, source, settings, ...rest } as unknown as UpdateContext;
}

test('a version that never ran because the service was stopped is rolled back and can be retried', async () => {
  const context = await openContext(null);
  expect(await repairUpdate(context)).toContain('is in place again');
  expect([readTrial(context.places), readPointer(context.places)]).toEqual([null, null]);
  expect(readLastUpdate(context.places)).toMatchObject({ code: 3, refused: null, held: null });
});

test('a version is rolled back and can be retried when the previous one still runs', async () => {
  const context = await openContext(older);
  expect(await repairUpdate(context)).toContain('before the new version ran');
  expect(readLastUpdate(context.places)).toMatchObject({ code: 3, refused: null, held: null });
}, 30_000);

test('a version that runs and fails its check is rolled back and not retried', async () => {
  const context = await openContext(newer, false);
  expect(await repairUpdate(context)).toContain('is in place again');
  expect(readLastUpdate(context.places)).toMatchObject({ code: 2, refused: newer });
}, 30_000);

test('a version that runs well is kept', async () => {
  const context = await openContext(newer);
  expect(await repairUpdate(context)).toContain('It is complete now');
  expect([readTrial(context.places), readLastUpdate(context.places)?.code]).toEqual([null, 0]);
}, 30_000);

test('a version whose update left no journal is kept, and an unknown version is not offered as the one to go back to', async () => {
  const context = await openContext(newer);
  endJournal(context.places);
  expect(await repairUpdate(context)).toContain('It is complete now');
  expect(readLastUpdate(context.places)).toMatchObject({ code: 0, back: null });
}, 30_000);

test('a confirmed version that the service left again, before its trial was over, does not become that of the clone', async () => {
  const context = await openContext(older);
  const { places, source } = context;
  writeJournal(places, { ...(readJournal(places) as Journal), phase: 'confirmed' });
  revertTrial(places, 'The new version ended with exit code 1.');
  const settled = vi.spyOn(source, 'settle');
  expect(await repairUpdate(context)).toContain('ended with exit code 1');
  expect([settled.mock.calls, readJournal(places)]).toEqual([[], null]);
  expect(readLastUpdate(places)).toMatchObject({ code: 2, refused: newer });
});
