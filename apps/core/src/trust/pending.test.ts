import path from 'node:path';
import { expect, test } from 'vitest';
import type { Denial } from '@svc/contract/trust.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite } from '@svc/store/open-sqlite.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { openPending } from './pending.ts';

const unknown: { denial: Denial } = { denial: 'unknown_sender' };
const minute = 60_000;
const hour = 60 * minute;

const from = (raw_id: string, over: Partial<Envelope> = {}): Envelope => ({
  channel: 'messenger',
  conversation_key: `messenger:m1:${raw_id}`,
  sender: { raw_id, raw_username: `Name of ${raw_id}` },
  content: { text: 'hello' },
  intake: { pairing: true },
  ...over,
});

/** Pending identities over a real database; calling `open` again is a restart. */
function house() {
  const db = openSqlite(':memory:');
  migrate(db, path.join(import.meta.dirname, '../db/migrations'));
  const clock = createFakeClock();
  const faults: string[] = [];
  const log = { error: (_fields: unknown, message: string) => void faults.push(message) };
  const open = () => openPending({ db, clock, ids: randomIds, log: log as never });
  const rows = () => db.raw.prepare('SELECT value, count FROM pending_identity ORDER BY last_seen').all();
  const writes = () => Number(db.raw.prepare('SELECT total_changes() AS n').get()?.['n']);
  return { db, clock, open, rows, writes, faults };
}

const codeOf = (sentence: string | null) => /[A-Z2-9]{4}-[A-Z2-9]{4}/.exec(sentence ?? '')?.[0] ?? null;
const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

test('a denied unknown sender is recorded with channel, value, name, times and count', async () => {
  const { clock, open } = house();
  const pending = await open();
  const first = clock.now();
  pending.note(from('42'), unknown);
  clock.advance(5000);
  pending.note(from('42', { sender: { raw_id: '42' } }), unknown);
  const [entry, ...rest] = await pending.list();
  expect(rest).toEqual([]);
  expect(entry).toMatchObject({
    surface: 'messenger',
    value: '42',
    name: 'Name of 42',
    first_seen: first,
    last_seen: first + 5000,
    count: 2,
  });
  expect(entry).not.toHaveProperty('codes_given');
});

test.each<Denial>(['disabled', 'blocked', 'no_grant', 'low_tier', 'gate_closed'])(
  'a sender denied as "%s" is not recorded and gets no code',
  async (denial) => {
    const pending = await house().open();
    expect(pending.note(from('42'), { denial })).toBeNull();
    expect(await pending.list()).toEqual([]);
  },
);

test('a sender denied without a reason is not recorded as unknown', async () => {
  const pending = await house().open();
  expect(pending.note(from('42'), {})).toBeNull();
  expect(await pending.list()).toEqual([]);
});

test.each([
  ['pairing is not on', { intake: undefined }],
  ['pairing is off', { intake: { pairing: false } }],
  ['the surface is public', { public: true }],
  ['nothing is answered', { delivery: 'async' }],
] as const)('gives no code when %s, but records the sender', async (_where, over) => {
  const pending = await house().open();
  expect(pending.note(from('42', over), unknown)).toBeNull();
  expect(await pending.list()).toMatchObject([{ value: '42', code: null, code_expires_at: null }]);
});

test('a code stays the same for an hour and then expires', async () => {
  const { clock, open } = house();
  const pending = await open();
  const sentence = pending.note(from('42'), unknown);
  expect(sentence).toMatch(
    /^To get access, give this code to the person who runs this assistant within 60 minutes: [A-Z2-9]{4}-[A-Z2-9]{4}$/,
  );
  clock.advance(hour - 1);
  expect(codeOf(pending.note(from('42'), unknown))).toBe(codeOf(sentence));
  expect((await pending.list())[0]).toMatchObject({ code: codeOf(sentence), code_expires_at: clock.now() + 1 });
  expect(pending.findByCode(codeOf(sentence) ?? '')?.value).toBe('42');
  clock.advance(1);
  expect(pending.findByCode(codeOf(sentence) ?? '')).toBeUndefined();
  expect((await pending.list())[0]).toMatchObject({ code: null, code_expires_at: null });
  expect(codeOf(pending.note(from('42'), unknown))).not.toBe(codeOf(sentence));
});

test('a sender gets at most three new codes a day', async () => {
  const { clock, open } = house();
  const pending = await open();
  for (let i = 0; i < 3; i++) {
    expect(codeOf(pending.note(from('42'), unknown))).not.toBeNull();
    clock.advance(hour);
  }
  expect(pending.note(from('42'), unknown)).toBeNull();
  expect(codeOf(pending.note(from('43'), unknown))).not.toBeNull();
  clock.advance(21 * hour - 1);
  expect(pending.note(from('42'), unknown)).toBeNull();
  clock.advance(1);
  expect(codeOf(pending.note(from('42'), unknown))).not.toBeNull();
});

test('at most a hundred codes are live, and further senders get none', async () => {
  const { clock, open } = house();
  const pending = await open();
  const channels = ['messenger', 'chatroom', 'device', 'email'];
  const codes = Array.from({ length: 100 }, (_, i) => codeOf(pending.note(from(`s${i}`, { channel: channels[i % 4] }), unknown)));
  expect(new Set(codes).size).toBe(100);
  expect(pending.note(from('late', { channel: 'issues' }), unknown)).toBeNull();
  expect(codeOf(pending.note(from('s0'), unknown))).toBe(codes[0]);
  clock.advance(hour);
  expect(codeOf(pending.note(from('late'), unknown))).not.toBeNull();
});

test('the oldest code of a channel is replaced after five minutes when its share is used up', async () => {
  const { clock, open } = house();
  const pending = await open();
  const codes = Array.from({ length: 150 }, (_, i) => codeOf(pending.note(from(`s${i}`), unknown)));
  expect(codes.filter((code) => code !== null)).toHaveLength(25);
  clock.advance(5 * minute - 1);
  expect(pending.note(from('newcomer'), unknown)).toBeNull();
  expect(pending.findByCode(codes[0] ?? '')?.value).toBe('s0');
  clock.advance(1);
  const code = codeOf(pending.note(from('newcomer'), unknown));
  expect(pending.findByCode(code ?? '')?.value).toBe('newcomer');
  expect(pending.findByCode(codes[0] ?? '')).toBeUndefined();
  expect(pending.findByCode(codes[1] ?? '')?.value).toBe('s1');
  expect((await pending.list()).find(({ value }) => value === 's0')?.code).toBeNull();
  for (let i = 0; i < 100; i++) pending.note(from(`t${i}`), unknown);
  expect(pending.findByCode(code ?? '')?.value).toBe('newcomer');
});

test('when all codes are taken, a sender on another channel replaces the oldest one after five minutes', async () => {
  const { clock, open } = house();
  const pending = await open();
  const channels = ['messenger', 'chatroom', 'device', 'email'];
  const codes = Array.from({ length: 100 }, (_, i) => codeOf(pending.note(from(`s${i}`, { channel: channels[i % 4] }), unknown)));
  const newcomer = from('newcomer', { channel: 'issues' });
  clock.advance(5 * minute - 1);
  expect(pending.note(newcomer, unknown)).toBeNull();
  clock.advance(1);
  expect(pending.findByCode(codeOf(pending.note(newcomer, unknown)) ?? '')?.value).toBe('newcomer');
  expect(pending.findByCode(codes[0] ?? '')).toBeUndefined();
  expect(pending.findByCode(codes[1] ?? '')?.value).toBe('s1');
});

test('a flood on one channel leaves codes and entries for the others', async () => {
  const { open } = house();
  const pending = await open();
  const quiet = { channel: 'email', intake: undefined };
  pending.note(from('anna', quiet), unknown);
  const codes = Array.from({ length: 1500 }, (_, i) => pending.note(from(`s${i}`), unknown));
  expect(codes.filter((code) => code !== null)).toHaveLength(25);
  expect(codeOf(pending.note(from('bob', { channel: 'chatroom' }), unknown))).not.toBeNull();
  const waiting = await pending.list();
  expect(waiting).toHaveLength(1000);
  expect(waiting.map(({ value }) => value)).toEqual(expect.arrayContaining(['anna', 'bob']));
});

test('at most a thousand senders are kept, and the one seen longest ago is dropped', async () => {
  const { clock, open, rows } = house();
  const pending = await open();
  const quiet = { intake: undefined };
  for (let i = 0; i < 1000; i++) pending.note(from(`s${i}`, quiet), unknown);
  pending.note(from('s0', quiet), unknown);
  for (let i = 0; i < 3; i++) pending.note(from(`late${i}`, quiet), unknown);
  clock.advance(minute);
  const values = (await pending.list()).map(({ value }) => value);
  expect(values).toHaveLength(1000);
  expect(values).toContain('s0');
  for (const gone of ['s1', 's2', 's3']) expect(values).not.toContain(gone);
  expect(rows()).toHaveLength(1000);
});

test('a sender with a live code keeps it despite many later strangers', async () => {
  const { open } = house();
  const pending = await open();
  const code = codeOf(pending.note(from('42'), unknown)) ?? '';
  for (let i = 0; i < 5000; i++) pending.note(from(`s${i}`, { intake: undefined }), unknown);
  expect(await pending.list()).toHaveLength(1000);
  expect((await pending.list()).find(({ value }) => value === '42')).toMatchObject({ code });
  expect(codeOf(pending.note(from('42'), unknown))).toBe(code);
});

test('a flood of messages from one sender is written about once a second', async () => {
  const { clock, open, rows, writes } = house();
  const pending = await open();
  const before = writes();
  for (let second = 0; second < 5; second++) {
    for (let i = 0; i < 1000; i++) {
      pending.note(from('42'), unknown);
      clock.advance(1);
    }
    await settled();
  }
  expect(writes() - before).toBeLessThanOrEqual(6);
  expect(writes() - before).toBeGreaterThanOrEqual(4);
  await pending.close();
  expect(rows()).toEqual([{ value: '42', count: 5000 }]);
});

test('a flood of new senders is written in batches, and no more than are kept', async () => {
  const { clock, open, rows, writes } = house();
  const pending = await open();
  const before = writes();
  for (let i = 0; i < 20_000; i++) pending.note(from(`s${i}`, { intake: undefined }), unknown);
  clock.advance(1000);
  await settled();
  expect(writes() - before).toBe(200);
  await pending.close();
  expect(rows()).toHaveLength(1000);
});

test('counts are written on close, and codes and their daily limit survive a restart', async () => {
  const { clock, open } = house();
  const before = await open();
  const code = codeOf(before.note(from('42'), unknown)) ?? '';
  await before.close();
  const after = await open();
  expect(after.findByCode(code)?.value).toBe('42');
  expect(codeOf(after.note(from('42'), unknown))).toBe(code);
  expect((await after.list())[0]).toMatchObject({ count: 2, code });
  for (let i = 0; i < 2; i++) {
    clock.advance(hour);
    after.note(from('42'), unknown);
  }
  await after.close();
  clock.advance(hour);
  expect((await open()).note(from('42'), unknown)).toBeNull();
});

test('a failed write is retried without losing counts', async () => {
  const { db, clock, open, rows, faults } = house();
  const pending = await open();
  db.raw.exec('ALTER TABLE pending_identity RENAME TO away');
  pending.note(from('42'), unknown);
  clock.advance(1000);
  await expect.poll(() => faults).toHaveLength(1);
  db.raw.exec('ALTER TABLE away RENAME TO pending_identity');
  pending.note(from('42'), unknown);
  clock.advance(1000);
  await expect.poll(rows).toEqual([{ value: '42', count: 2 }]);
});

test('a sender who has become known is no longer pending', async () => {
  const { db, open, clock, rows } = house();
  const pending = await open();
  pending.note(from('42'), unknown);
  pending.note(from('43'), unknown);
  db.raw.exec("INSERT INTO principal VALUES ('p', 'anna', 'Anna', 'active', 0, '', 1, 1)");
  db.raw.exec("INSERT INTO identifier VALUES ('i', 'p', 'messenger', '42')");
  expect((await pending.list()).map(({ value }) => value)).toEqual(['43']);
  clock.advance(1000);
  await expect.poll(rows).toEqual([{ value: '43', count: 1 }]);
});

test('a removed sender stays removed after a restart, and is recorded again on the next message', async () => {
  const { open } = house();
  const before = await open();
  const code = codeOf(before.note(from('42'), unknown)) ?? '';
  const [entry] = await before.list();
  before.remove(before.read(entry?.id ?? ''));
  expect(before.findByCode(code)).toBeUndefined();
  await before.close();
  const after = await open();
  expect(await after.list()).toEqual([]);
  after.note(from('42'), unknown);
  expect((await after.list())[0]).toMatchObject({ count: 1 });
});

test.each(['__proto__', 'constructor', 'toString', "'; DROP TABLE pending_identity; --", '\0', '%', ''])(
  'a sender named %j is handled like any other',
  async (value) => {
    const { open } = house();
    const pending = await open();
    const code = codeOf(pending.note(from(value), unknown)) ?? '';
    expect(pending.findByCode(code)?.value).toBe(value);
    await pending.close();
    expect(await (await open()).list()).toMatchObject([{ value }]);
  },
);

test('an identifier that cannot be stored exactly gets no code', async () => {
  const pending = await house().open();
  expect(pending.note(from('a\uD800'), unknown)).toBeNull();
  expect(await pending.list()).toEqual([]);
});

test.each([
  ['Anna\u202E\u200Bxe.\u0007', 'Anna xe.'],
  ['two\nlines\tand  more', 'two lines and more'],
  ['   ', null],
  [undefined, null],
  ['x'.repeat(256), 'x'.repeat(80)],
])('the name %j is stored as %j', async (raw_username, name) => {
  const pending = await house().open();
  pending.note(from('42', { sender: { raw_id: '42', raw_username } }), unknown);
  expect((await pending.list())[0]?.name).toBe(name);
});
