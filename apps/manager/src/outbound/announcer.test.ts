import path from 'node:path';
import type { Instance } from '@svc/contract/instance.ts';
import type { Attempt } from '@svc/connector-kit/retry.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite } from '@svc/store/open-sqlite.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { createConnectorTypes } from '../connector-type/connector-types.ts';
import { notRunning } from '../supervisor/runtime-status.ts';
import { createAnnouncementStore } from './announcement-store.ts';
import { createAnnouncer, type Announcer } from './announcer.ts';

const meta = {
  type: 'box',
  displayName: 'Box',
  supportsMultiple: true,
  capabilities: {},
  credentialKeys: [],
  configSchema: { type: 'object', properties: {} },
  outbound: { kinds: ['text'], target: { required: true, label: 'Box' } },
} as const;
const stored = { id: 'box', type: 'box', name: 'Box', enabled: true, config: {}, created_at: 0, updated_at: 0 };
const instance: Instance = { ...stored, ...notRunning };
const fine: Attempt<void> = { ok: true, value: undefined };
const away: Attempt<void> = { ok: false, again: true, error: unavailable('not up') };

async function setUp() {
  const db = openSqlite(':memory:');
  migrate(db, path.join(import.meta.dirname, '../db/migrations'));
  const clock = createFakeClock();
  const store = createAnnouncementStore(db);
  const attempts: string[] = [];
  const outcomes: Attempt<void>[] = [];
  const types = createConnectorTypes({
    find: async () => ({ types: [{ meta, entry: '', folder: '', isAdded: false }], problems: [] }),
  });
  await types.refresh();
  let run: string | null = 'first';
  let beat: (id: string) => void = () => undefined;
  let serial = 0;
  /** Hooks that run during these calls. */
  const during = { add: async () => {}, listOf: async () => {} };
  const announcer = createAnnouncer({
    store: {
      ...store,
      async add(announcement) {
        await during.add();
        await store.add(announcement);
      },
      async listOf(id) {
        const held = await store.listOf(id);
        await during.listOf();
        return held;
      },
    },
    clock,
    instances: { list: async () => [instance] },
    types,
    supervisor: { aliveRunOf: () => run, onAlive: (listener) => (beat = listener) },
    ids: { next: (prefix) => `${prefix}_${++serial}` },
    log: { error: () => undefined },
    deliver: async (_, { id }) => {
      attempts.push(id);
      return outcomes.shift() ?? fine;
    },
  });
  return {
    announcer,
    attempts,
    during,
    outcomes,
    clock,
    /** The instance sends a heartbeat in this run. */
    async beats(inRun: string) {
      run = inRun;
      beat('box');
      await settle();
    },
    /** It starts and sends a heartbeat at once: both are handled before anything else. */
    async runsAndBeats(inRun: string) {
      run = null;
      beat('box');
      run = inRun;
      beat('box');
      await settle();
    },
    /** It is down until the next heartbeat. */
    goesDown: () => void (run = null),
    async pass(ms: number) {
      clock.advance(ms);
      await settle();
    },
  };
}

/** Lets all work run that waits for no timer. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}

const announce = (announcer: Announcer) => announcer.announce({ instance_id: 'box', target: 'b', text: 'hello' });

test('an announcement is delivered once, in the next run after the one in which it was posted', async () => {
  const { announcer, attempts, beats } = await setUp();
  await announce(announcer);
  for (const run of ['first', 'first', 'second', 'second', 'third']) await beats(run);
  expect(attempts).toEqual(['ann_1']);
  expect(await announcer.listOf('box')).toEqual([]);
});

test('an announcement is delivered on the first heartbeat, even together with the news of the start', async () => {
  const { announcer, attempts, runsAndBeats } = await setUp();
  await announce(announcer);
  await runsAndBeats('second');
  expect(attempts).toEqual(['ann_1']);
});

test('an announcement is delivered when the instance comes up while it is being stored', async () => {
  const { announcer, attempts, during, goesDown, beats } = await setUp();
  goesDown();
  during.add = () => beats('second');
  await announce(announcer);
  await settle();
  expect(attempts).toEqual(['ann_1']);
});

test('an announcement posted while the list is read as empty is delivered', async () => {
  const { announcer, attempts, during, beats } = await setUp();
  await announce(announcer);
  during.listOf = async () => {
    during.listOf = async () => undefined;
    await announce(announcer);
  };
  await beats('second');
  await beats('third');
  expect(attempts).toEqual(['ann_1', 'ann_2']);
});

test('a failed announcement is retried under the same id after a pause that heartbeats do not shorten', async () => {
  const { announcer, attempts, outcomes, beats, pass } = await setUp();
  outcomes.push(away, away);
  await announce(announcer);
  for (let i = 0; i < 3; i++) await beats('second');
  expect(await announcer.listOf('box')).toMatchObject([{ state: 'waiting', attempts: 1, error: 'not up' }]);
  await pass(2_000);
  await pass(3_999);
  expect(attempts).toEqual(['ann_1', 'ann_1']);
  await pass(1);
  expect(attempts).toEqual(['ann_1', 'ann_1', 'ann_1']);
});

test('a failed announcement is retried at once when the instance has restarted', async () => {
  const { announcer, attempts, outcomes, beats } = await setUp();
  outcomes.push(away);
  await announce(announcer);
  await beats('second');
  await beats('third');
  expect(attempts).toEqual(['ann_1', 'ann_1']);
});

test('an announcement expires after a week, is listed as failed, and is removed after another', async () => {
  const { announcer, attempts, beats, pass } = await setUp();
  const week = 7 * 24 * 60 * 60_000;
  await announce(announcer);
  await pass(week);
  await beats('second');
  expect(attempts).toEqual([]);
  expect(await announcer.listOf('box')).toMatchObject([{ state: 'failed', error: expect.stringContaining('expired') }]);
  await pass(week);
  await settle();
  expect(await announcer.listOf('box')).toEqual([]);
});
