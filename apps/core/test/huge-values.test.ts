import { afterEach, beforeEach, expect, test } from 'vitest';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

/** A size that versions without limits may have stored. */
const huge = (bytes = 9_000_000) => 'x'.repeat(bytes);
const mib = 1024 * 1024;

let core: TestCore;
beforeEach(async () => {
  core = await openTestCore();
});
afterEach(() => core.close());

const get = async <T>(url: string) => {
  const response = await core.app.inject(url);
  expect(response.statusCode).toBe(200);
  expect(response.body.length).toBeLessThan(6 * mib);
  return response.json<T>();
};
const run = (sql: string, ...values: (string | number)[]) => core.context.db.run(sql, ...values);

test('sessions with huge columns are listed, without targets that are too long', async () => {
  for (const n of [1, 2, 3])
    await core.handle(envelope('hi', { conversation_key: `compat:c1:k${n}`, channel_context: { target: 't' } }));
  const columns = ['outbound_target', 'title', 'model', 'engine_session_id', 'tmux_target', 'cwd'];
  // In one statement, because each change writes the complete row.
  const values = columns.map((column) => `${column} = ?1`).join();
  await run(`UPDATE session SET ${values} WHERE conversation_key <> 'compat:c1:k3'`, huge());
  const { sessions } = await get<{ sessions: { outbound_target: string | null; conversation_key: string }[] }>('/v2/sessions');
  expect(Object.fromEntries(sessions.map((session) => [session.conversation_key, session.outbound_target]))).toEqual({
    'compat:c1:k1': null,
    'compat:c1:k2': null,
    'compat:c1:k3': 't',
  });
  expect(await get('/v2/session/compat:c1:k1')).toMatchObject({ outbound_target: null, title: null });
});

test('a page of sessions is limited in bytes and names the next page', async () => {
  await core.handle(envelope('hi'));
  for (let n = 0; n < 300; n++) {
    await run(
      `INSERT INTO session (conversation_key, surface, cwd, outbound_target, claimed_by, created_at, last_active_at)
      VALUES (?, 'compat', ?, ?, ?, 1, ?)`,
      `compat:c1:${n}`,
      huge(8000),
      huge(4000),
      huge(9000),
      1000 + n,
    );
  }
  const seen: string[] = [];
  let url: string | null = '/v2/sessions?limit=1000';
  while (url !== null) {
    type Answer = { sessions: { conversation_key: string }[]; next: string | null };
    const page: Answer = await get(url);
    seen.push(...page.sessions.map(({ conversation_key }) => conversation_key));
    url = page.next === null ? null : `/v2/sessions?limit=1000&before=${page.next}`;
  }
  expect(new Set(seen).size).toBe(301);
});

test('deliveries are listed in pages limited in bytes, with long texts truncated', async () => {
  const { db, deliveries } = core.context;
  const route = { instance_id: 'm1', target: 't' };
  for (const text of ['short', huge(), huge(900_000), huge(900_000), huge(900_000), huge(900_000), huge(900_000)]) {
    const delivery = { turn_id: 't', turn_seq: 0, conversation_key: 'k', text, injected: false, route, error: null };
    await db.transaction((tx) => deliveries.add(tx, delivery, true));
  }
  const lengths: number[] = [];
  let before: number | null = Number.MAX_SAFE_INTEGER;
  while (before !== null) {
    type Answer = { deliveries: { text: string }[]; next: number | null };
    const page: Answer = await get(`/v2/deliveries?limit=3&before=${before}`);
    lengths.push(...page.deliveries.map(({ text }) => text.length));
    before = page.next;
  }
  expect(lengths).toHaveLength(7);
  expect(lengths.at(-1)).toBe(5);
  expect(Math.max(...lengths)).toBeLessThan(2 * mib);
});

test('the history of a conversation is read in pages limited in bytes', async () => {
  for (const n of [1, 2, 3, 4]) await core.handle(envelope(`question ${n}`));
  const reply = (text: string) =>
    JSON.stringify({ actions: [{ type: 'reply', text }], outcome: 'replied', conversation_key: 'k', turn_id: 't' });
  await run('UPDATE turn SET text = ? WHERE seq = 1', huge());
  await run('UPDATE turn SET result = ? WHERE seq = 2', reply(huge()));
  await run('UPDATE turn SET result = ? WHERE seq = 3', reply(huge(3_000_000)));
  const texts: string[] = [];
  let before: number | null = Number.MAX_SAFE_INTEGER;
  while (before !== null) {
    type Answer = { messages: { text: string }[]; next: number | null };
    const page: Answer = await get(`/v2/session/compat:c1:key/history?before=${before}`);
    texts.unshift(...page.messages.map(({ text }) => text));
    before = page.next;
  }
  expect(texts.map((text) => text.slice(0, 20))).toEqual([
    'x'.repeat(20),
    'question 1',
    'question 2',
    'This reply is too lo',
    'question 3',
    'x'.repeat(20),
    'question 4',
    'question 4',
  ]);
});

test('pending senders and audit entries are listed with huge values omitted', async () => {
  await run(
    `INSERT INTO pending_identity (id, surface, value, name, first_seen, last_seen, count, codes_given, codes_since)
    VALUES ('p1', 'messenger', ?, 'a', 1, 1, 1, 0, 0), ('p2', 'messenger', '42', ?, 1, 2, 1, 0, 0)`,
    huge(),
    huge(),
  );
  for (let n = 0; n < 5; n++) {
    await run(
      `INSERT INTO trust_audit (at, actor, what, principal, before, after) VALUES (1, 'local', 'linked', 'a', ?, ?)`,
      JSON.stringify({ notes: huge() }),
      JSON.stringify({ n }),
    );
  }
  const { audit } = await get<{ audit: { before: object | null; after: { n: number } }[] }>('/trust/audit');
  expect(audit.slice(0, 5).map(({ before, after }) => [before, after.n])).toEqual(
    [4, 3, 2, 1, 0].map((n) => [{ withheld: 'too long to be shown' }, n]),
  );
  const again = await openTestCore({ dataDir: core.crash() });
  core = again;
  const { pending } = await get<{ pending: { value: string; name: string }[] }>('/trust/pending');
  expect(pending.map(({ value, name }) => [value, name?.length <= 80])).toEqual([['42', true]]);
});

test('announcements are listed with huge values truncated', async () => {
  for (let n = 0; n < 3; n++) {
    await run(
      `INSERT INTO announcement (target, text, priority, from_session, created_at) VALUES (?, ?, 'normal', ?, 1)`,
      n === 0 ? huge() : '*',
      huge(),
      huge(),
    );
  }
  core = await openTestCore({ dataDir: core.crash() });
  const { announcements } = await get<{ announcements: { text: string }[] }>('/v2/announcements');
  expect(announcements.length).toBeGreaterThan(0);
  for (const { text } of announcements) expect(text.length).toBeLessThan(4100);
});
