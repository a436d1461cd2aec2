import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import path from 'node:path';
import type { Erased, ErasurePlan } from '@svc/contract/erasure.ts';
import type { TrustChange } from '@svc/contract/trust.ts';
import { workingUntilAborted } from '@svc/testing/scripted-engine.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';
import { dataDir, startCoreProcess } from './start-core-process.ts';
import { tablesWith } from './rows-with.ts';

const word = 'zantedeschia';
const own = `compat:c1:${word}`;
const room = 'compat:c1:room';
const sender = { raw_id: word, raw_username: word };
let core: TestCore;

beforeEach(async () => {
  core = await openTestCore();
  await core.addPrincipal(word, 'known');
});
afterEach(() => core.close());

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
const call = (method: Method, url: string, payload?: object) =>
  core.app.inject({ method, url, ...(payload !== undefined && { payload }) });
const erase = (body: object = {}, who = word) => call('POST', `/trust/principals/${who}/erase`, body);
const plan = async (who = word) => (await call('GET', `/trust/principals/${who}/erasure`)).json<ErasurePlan>();
const say = (text: string, over: object = {}) => core.handle(envelope(text, { conversation_key: own, sender, ...over }));
const lookUp = async () =>
  (await call('POST', '/trust/resolve', { channel: 'compat', sender: { raw_id: word } })).json<{
    denied: boolean;
    denial: string;
  }>();
const statusOf = async (key: string) => (await call('GET', `/v2/session/${encodeURIComponent(key)}`)).statusCode;
const notices = async () =>
  (await call('GET', '/health')).json<{ notices: string[] }>().notices.filter((notice) => notice.includes('erased'));
const holding = () => tablesWith(core.context.db.raw, word).filter((table) => table !== 'trust_audit');

/** A little of everything that belongs to the person. */
async function fill(): Promise<void> {
  await say(`hello from ${word}`);
  await call('POST', '/v2/upload', {
    filename: `${word}.txt`,
    conversation_key: own,
    data_base64: Buffer.from(word).toString('base64'),
  });
  await call('PUT', '/v2/spend/budget', { surface: 'compat', value: word, month_usd: 1 });
  await call('POST', '/v2/announce', { text: `for ${word}`, target: own });
  await call('POST', '/v2/announce', { text: `for ${word}`, target: `identity:${word}` });
}

describe('interrupted erasure', () => {
  test.each(['turn', 'session', 'principal', 'sender_budget', 'announcement', 'erasure'])(
    'is completed at the next start when deleting from the table %s failed',
    async (table) => {
      await fill();
      core.context.db.raw.exec(`CREATE TRIGGER cut BEFORE DELETE ON ${table} BEGIN SELECT RAISE(ABORT, 'cut off'); END`);
      const answer = await erase();
      expect([answer.statusCode, answer.json<{ message: string }>().message]).toEqual([
        503,
        expect.stringContaining('at each start'),
      ]);
      expect((await say('me again')).json()).toMatchObject({ outcome: 'denied' });
      expect(await notices()).toEqual([expect.stringContaining('is not completely erased yet')]);

      const left = core.crash();
      const db = new DatabaseSync(path.join(left, 'core.db'));
      db.exec('DROP TRIGGER cut');
      db.close();
      core = await openTestCore({ dataDir: left });
      await core.context.pending.list();
      await core.context.db.flush();
      expect(holding()).toEqual([]);
      expect(await notices()).toEqual([]);
      expect((await call('GET', '/v2/uploads')).json()).toMatchObject({ files: [] });
      expect(await statusOf(own)).toBe(404);
      expect(await lookUp()).toMatchObject({ denied: true, denial: 'unknown_sender' });
    },
  );
});

test('an erasure interrupted by a kill continues when the process is started again', async () => {
  const dir = dataDir();
  const edit = (sql: string) => {
    const db = new DatabaseSync(path.join(dir, 'core.db'), { timeout: 10_000 });
    db.exec(sql);
    db.close();
  };
  const first = await startCoreProcess(dir);
  await first.ready();
  const ask = (at: { url: string }, route: string, body?: object) =>
    fetch(at.url + route, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  await ask(first, '/trust/principals', { key: word, display_name: word });
  edit(`CREATE TRIGGER cut BEFORE DELETE ON principal BEGIN SELECT RAISE(ABORT, 'cut off'); END`);
  expect((await ask(first, `/trust/principals/${word}/erase`, {})).status).toBe(503);
  first.child.kill('SIGKILL');
  await first.exited;
  edit('DROP TRIGGER cut');

  const second = await startCoreProcess(dir);
  await second.ready();
  await expect.poll(async () => (await ask(second, `/trust/principals/${word}`)).status, { timeout: 10_000 }).toBe(404);
});

test('an erasure aborts the running turn of the person and refuses their messages; later they are a stranger', async () => {
  const held = Promise.withResolvers<void>();
  core.engine.script(async function* (request, signal) {
    yield* workingUntilAborted()(request, signal);
    await held.promise;
  });
  const running = say(`long work for ${word}`);
  await expect.poll(() => core.engine.requests.length).toBe(1);
  const erased = erase();
  await expect.poll(lookUp).toMatchObject({ denial: 'disabled' });
  expect((await say(`more from ${word}`)).json()).toMatchObject({ outcome: 'denied' });
  expect(await plan()).toMatchObject({ is_under_way: true });
  held.resolve();
  await running;
  expect((await erased).json<Erased>()).toMatchObject({ ok: true, conversations: 1 });
  await core.context.pending.list();
  expect(holding()).toEqual([]);

  await say('hello once more');
  const { pending } = (await call('GET', '/trust/pending')).json<{ pending: { value: string }[] }>();
  expect(pending.map(({ value }) => value)).toEqual([word]);
});

test('refuses to erase the last owner or a person in the seed file, and touches nothing of them', async () => {
  await core.handle(envelope('hello'));
  const answer = await erase({}, 'owner');
  expect([answer.statusCode, answer.json<{ message: string }>().message]).toEqual([409, (await plan('owner')).refused]);
  expect((await plan('owner')).refused).toContain('the last person with every right');

  const seeded = { key: 'other', role: 'known', identifiers: [{ surface: 'compat', value: word }] };
  writeFileSync(path.join(core.folder, 'trust.seed.json'), JSON.stringify({ principals: [seeded] }));
  expect((await erase()).json<{ message: string }>().message).toContain('trust.seed.json');
  expect((await plan()).is_under_way).toBe(false);
  expect(await lookUp()).toMatchObject({ denied: false });
  expect(await statusOf('compat:c1:key')).toBe(200);
  expect((await erase({}, 'nobody')).statusCode).toBe(404);
});

test('a shared conversation is erased with any of its people, unless keep_shared is set', async () => {
  await call('POST', '/trust/principals', { key: 'ben', display_name: 'Ben' });
  await call('POST', '/trust/principals/ben/identifiers', { surface: 'compat', value: 'ben' });
  await call('POST', '/trust/principals/ben/grants', { role_id: 'known' });
  await say('in the room', { conversation_key: room });
  await core.handle(envelope('me too', { conversation_key: room, sender: { raw_id: 'ben' } }));
  await say('alone');
  expect((await plan()).removes.conversations.toSorted((a, b) => a.key.localeCompare(b.key))).toEqual([
    { key: room, is_shared: true },
    { key: own, is_shared: false },
  ]);
  const kept = (await call('GET', `/trust/principals/${word}/erasure?keep_shared=1`)).json<ErasurePlan>();
  expect(kept.removes.conversation_count).toBe(1);
  expect((await erase({ keep_shared: true })).json()).toMatchObject({ conversations: 1 });
  expect([await statusOf(own), await statusOf(room)]).toEqual([404, 200]);
  expect((await erase({}, 'ben')).json()).toMatchObject({ conversations: 1 });
  expect(await statusOf(room)).toBe(404);
});

test('the audit log records an erasure and its actor, and not the names of the person again', async () => {
  await erase();
  const { audit } = (await call('GET', `/trust/audit?principal=${word}`)).json<{ audit: TrustChange[] }>();
  expect(audit[0]).toMatchObject({ what: 'principal_erased', actor: 'local', before: null, after: null });
});
