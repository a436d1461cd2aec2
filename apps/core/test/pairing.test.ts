import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { randomIds } from '@svc/service-kit/ids.ts';
import { seedTrust } from '../src/trust/seed-trust.ts';
import { createTrustStore } from '../src/trust/trust-store.ts';
import { from, openPairingBench } from './open-pairing-bench.ts';
import { openTestTrust } from './open-test-trust.ts';

const bench = openPairingBench(openTestTrust);
const { first, note, pair, post, remove, waiting } = bench;
const letsIn = (raw_id: string) => bench.core.letsIn(from(raw_id));

describe('POST /trust/pair', () => {
  test('makes a principal named after the sender, known, who is let in with the next message', async () => {
    const code = note('42');
    const answer = await pair({ code });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({
      ok: true,
      principal: { key: 'anna-k', display_name: 'Anna K.', is_new: true },
      identifier: { surface: 'messenger', value: '42' },
      role: 'known',
      trust: { denied: false, trust_tier: 'KNOWN', tool_policy: 'read' },
    });
    expect(await letsIn('42')).toBe(true);
    expect(await waiting()).toEqual([]);
    expect(bench.core.telemetry.events.find((event) => event.kind === 'trust')).toMatchObject({
      surface: 'messenger',
      identity: '42',
      principal: 'anna-k',
      payload: { what: 'paired', role: 'known' },
    });
  });

  test.each([
    ['small letters', (code: string) => code.toLowerCase()],
    ['no dash', (code: string) => code.replace('-', '')],
    ['spaces', (code: string) => ` ${Array.from(code).join(' ')} `],
  ])('takes a code with %s', async (_how, typed) => {
    expect((await pair({ code: typed(note('42')) })).statusCode).toBe(200);
  });

  test('lets nobody in whose name could be taken for another', async () => {
    for (const raw_id of ['4\u200b2', '\uff14\uff12']) {
      const answer = await pair({ code: note(raw_id), as: 'owner' });
      expect([answer.statusCode, answer.json().error]).toEqual([400, 'bad_request']);
      expect(await letsIn(raw_id)).toBe(false);
    }
  });

  test('names nobody like a principal there is, in any case', async () => {
    await bench.core.context.trustAdmin.createPrincipal('local', { key: 'Anna-K', display_name: 'Anna K.' });
    expect((await pair({ code: note('42') })).json()).toMatchObject({ principal: { key: 'anna-k-2' } });
  });

  test('with "as" links to the principal there is, and gives nothing new to it', async () => {
    const answer = await pair({ code: note('42'), as: 'owner' });
    expect(answer.json()).toMatchObject({
      principal: { key: 'owner', is_new: false },
      role: null,
      trust: { trust_tier: 'SACRED' },
    });
    expect(await bench.core.context.db.all('SELECT id FROM trust_grant')).toHaveLength(1);
  });

  test('with "role" and "name" makes the principal so', async () => {
    const answer = await pair({ code: note('42'), role: 'guest', name: 'Tante Anna' });
    expect(answer.json()).toMatchObject({
      principal: { key: 'tante-anna', display_name: 'Tante Anna' },
      role: 'guest',
      trust: { trust_tier: 'GUEST', tool_policy: 'none' },
    });
  });

  test('never takes a sender for a principal of the same name', async () => {
    const code = note('42', { sender: { raw_id: '42', raw_username: 'Owner' } });
    expect((await pair({ code })).json()).toMatchObject({ principal: { key: 'owner-2' }, trust: { trust_tier: 'KNOWN' } });
  });

  test.each([
    ['a name without latin letters', 'Анна', 'guest'],
    ['no name', undefined, '42'],
  ])('finds a key for %s', async (_who, raw_username, key) => {
    expect((await pair({ code: note('42', { sender: { raw_id: '42', raw_username } }) })).json().principal.key).toBe(key);
  });

  test('of an unknown code is 404 and says what to do', async () => {
    note('42');
    const answer = await pair({ code: 'ZZZZ-ZZZZ' });
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toMatchObject({ error: 'not_found', message: expect.stringContaining('svc pair') as string });
  });

  test('of an expired code is 404', async () => {
    const code = note('42');
    bench.clock.advance(60 * 60_000);
    expect((await pair({ code })).statusCode).toBe(404);
  });

  test('of a code that a clock gave that was ahead is 404, and the sender gets another one', async () => {
    bench.clock.setBack(-48 * 60 * 60_000);
    const codes = Array.from({ length: 3 }, () => {
      bench.clock.advance(60 * 60_000);
      return note('42');
    });
    bench.clock.setBack(48 * 60 * 60_000);
    expect((await pair({ code: codes[2] ?? '' })).statusCode).toBe(404);
    expect((await pair({ code: note('42') })).statusCode).toBe(200);
  });

  test('takes a code once', async () => {
    const code = note('42');
    expect((await pair({ code })).statusCode).toBe(200);
    expect((await pair({ code })).statusCode).toBe(404);
  });

  test('takes ten wrong codes a minute, then none at all, not even a right one, until the minute is over', async () => {
    const code = note('42');
    for (let i = 0; i < 10; i++) expect((await pair({ code: 'ZZZZZZZZ' })).statusCode).toBe(404);
    const answer = await pair({ code });
    expect(answer.statusCode).toBe(429);
    expect(answer.headers['retry-after']).toBe('60');
    bench.clock.advance(59_000);
    expect((await pair({ code })).headers['retry-after']).toBe('1');
    bench.clock.advance(1000);
    expect((await pair({ code })).statusCode).toBe(200);
  });

  test.each([
    ['an unknown principal', { as: 'nobody' }, 404],
    ['an unknown role', { role: 'emperor' }, 404],
    ['a name for a principal there is', { as: 'owner', name: 'Anna' }, 400],
    ['a role for a principal there is', { as: 'owner', role: 'guest' }, 400],
    ['an empty name', { name: '  ' }, 400],
  ])('refuses %s, and nothing has changed', async (_what, extra, status) => {
    const code = note('42');
    expect((await pair({ code, ...extra })).statusCode).toBe(status);
    expect(await bench.core.context.db.all('SELECT id FROM principal')).toHaveLength(1);
    expect(await letsIn('42')).toBe(false);
    expect((await pair({ code })).statusCode).toBe(200);
  });

  test('is one transaction with the list of those who wait', async () => {
    const code = note('42');
    expect(await waiting()).toHaveLength(1);
    const stored = () => bench.core.context.db.all('SELECT id FROM pending_identity');
    expect((await pair({ code, role: 'emperor' })).statusCode).toBe(404);
    expect(await stored()).toHaveLength(1);
    await pair({ code });
    expect(await stored()).toEqual([]);
  });

  test('twice at once makes one principal', async () => {
    const code = note('42');
    const statuses = (await Promise.all([pair({ code }), pair({ code })])).map(({ statusCode }) => statusCode);
    expect(statuses).toContain(200);
    expect(statuses).not.toEqual([200, 200]);
    expect(await bench.core.context.db.all('SELECT id FROM principal')).toHaveLength(2);
  });
});

describe('POST /trust/pending/:id/link', () => {
  const link = async (payload: object) => post(`/trust/pending/${(await first()).id}/link`, payload);

  test('links to a principal by its id', async () => {
    await bench.core.addPrincipal('anna', 'trusted');
    const id = (await bench.core.context.db.get<{ id: string }>("SELECT id FROM principal WHERE key = 'anna'"))?.id;
    note('42', { intake: {} });
    expect((await link({ principal_id: id })).json()).toMatchObject({
      principal: { key: 'anna', is_new: false },
      trust: { trust_tier: 'TRUSTED' },
    });
    expect(await letsIn('42')).toBe(true);
    expect(bench.core.telemetry.events.find((event) => event.kind === 'trust')).toMatchObject({ payload: { what: 'linked' } });
  });

  test('links to a new principal', async () => {
    note('42');
    const answer = await link({ principal: { key: 'anna', display_name: 'Anna', role: 'guest' } });
    expect(answer.json()).toMatchObject({ principal: { key: 'anna', is_new: true }, role: 'guest' });
  });

  test.each([
    ['nothing to link to', {}, 400],
    ['two to link to', { principal_id: 'x', principal: { key: 'anna', role: 'known' } }, 400],
    ['a key that is not valid', { principal: { key: 'an na', role: 'known' } }, 400],
    ['a new principal without a role', { principal: { key: 'anna' } }, 400],
    ['a principal that is not there', { principal_id: 'principal_0' }, 404],
    ['a role that is not there', { principal: { key: 'anna', role: 'emperor' } }, 404],
    ['a key that is taken', { principal: { key: 'owner', role: 'known' } }, 409],
  ])('refuses %s, and the sender waits on', async (_what, payload, status) => {
    note('42');
    expect((await link(payload)).statusCode).toBe(status);
    expect(await waiting()).toHaveLength(1);
    expect(await bench.core.context.db.all('SELECT id FROM principal')).toHaveLength(1);
  });

  test('of an unknown id is 404', async () => {
    expect((await post('/trust/pending/pending_0/link', { principal_id: 'x' })).statusCode).toBe(404);
  });

  test('an identifier that another principal has is 409, and stays there', async () => {
    const code = note('42');
    const { id } = await first();
    await bench.core.addPrincipal('42', 'guest', 'messenger');
    expect((await post(`/trust/pending/${id}/link`, { principal: { key: 'thief', role: 'owner' } })).statusCode).toBe(409);
    const answer = await pair({ code, as: 'owner' });
    expect(answer.statusCode).toBe(409);
    expect(answer.json().message).toContain('"42"');
    expect(await bench.core.context.db.all("SELECT id FROM principal WHERE key = 'thief'")).toEqual([]);
    expect(await bench.core.context.trust.resolve(from('42'))).toMatchObject({ principal_key: '42', trust_tier: 'GUEST' });
  });
});

describe('DELETE /trust/pending/:id', () => {
  test('forgets the sender and the code', async () => {
    const code = note('42');
    const { id } = await first();
    expect((await remove(`/trust/pending/${id}`)).json()).toEqual({ ok: true });
    expect((await remove(`/trust/pending/${id}`)).statusCode).toBe(404);
    expect((await pair({ code })).statusCode).toBe(404);
    expect(await waiting()).toEqual([]);
  });
});

describe('DELETE /trust/identifiers/:iid', () => {
  test('takes back what pairing gave: the next message is denied', async () => {
    const { identifier } = (await pair({ code: note('42') })).json();
    expect(await letsIn('42')).toBe(true);
    expect((await remove(`/trust/identifiers/${identifier.id}`)).statusCode).toBe(200);
    expect(await letsIn('42')).toBe(false);
    expect((await remove(`/trust/identifiers/${identifier.id}`)).statusCode).toBe(404);
    expect(bench.core.telemetry.events.filter((event) => event.kind === 'trust').map(({ payload }) => payload['what'])).toEqual([
      'paired',
      'unlinked',
    ]);
  });

  test('takes from a principal that is an owner by mistake', async () => {
    const { identifier } = (await pair({ code: note('42'), role: 'owner' })).json();
    expect((await remove(`/trust/identifiers/${identifier.id}`)).statusCode).toBe(200);
  });

  test('refuses the last way in of an owner', async () => {
    const ways = (await bench.core.context.trustAdmin.readPrincipal('owner')).identifiers.map(({ id }) => id);
    expect(ways.length).toBeGreaterThan(1);
    const statuses = [];
    for (const id of ways) statuses.push((await remove(`/trust/identifiers/${id}`)).statusCode);
    expect(statuses).toEqual([...ways.slice(1).map(() => 200), 409]);
  });
});

test('a person who was paired is widened by the seed file, named by key alone', async () => {
  const { principal } = (await pair({ code: note('42') })).json();
  const seed = path.join(bench.core.folder, 'trust.seed.json');
  writeFileSync(seed, JSON.stringify({ principals: [{ key: principal.key, role: 'trusted', identifiers: [] }] }));
  await seedTrust(createTrustStore(bench.core.context.db, bench.clock, randomIds), seed);
  bench.core.context.trust.changed();
  expect(await bench.core.context.trust.resolve(from('42'))).toMatchObject({ trust_tier: 'TRUSTED', display_name: 'Anna K.' });
});
