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
  test('creates a known person named after the sender, who is admitted from the next message on', async () => {
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
  ])('accepts a code with %s', async (_how, typed) => {
    expect((await pair({ code: typed(note('42')) })).statusCode).toBe(200);
  });

  test('refuses a sender whose id could be mistaken for another', async () => {
    for (const raw_id of ['4\u200b2', '\uff14\uff12']) {
      const answer = await pair({ code: note(raw_id), as: 'owner' });
      expect([answer.statusCode, answer.json().error]).toEqual([400, 'bad_request']);
      expect(await letsIn(raw_id)).toBe(false);
    }
  });

  test('does not reuse the key of an existing person, ignoring case', async () => {
    await bench.core.context.trustAdmin.createPrincipal('local', { key: 'Anna-K', display_name: 'Anna K.' });
    expect((await pair({ code: note('42') })).json()).toMatchObject({ principal: { key: 'anna-k-2' } });
  });

  test('with "as", links to the existing person without a new grant', async () => {
    const answer = await pair({ code: note('42'), as: 'owner' });
    expect(answer.json()).toMatchObject({
      principal: { key: 'owner', is_new: false },
      role: null,
      trust: { trust_tier: 'SACRED' },
    });
    expect(await bench.core.context.db.all('SELECT id FROM trust_grant')).toHaveLength(1);
  });

  test('with "role" and "name", creates the person with them', async () => {
    const answer = await pair({ code: note('42'), role: 'guest', name: 'Tante Anna' });
    expect(answer.json()).toMatchObject({
      principal: { key: 'tante-anna', display_name: 'Tante Anna' },
      role: 'guest',
      trust: { trust_tier: 'GUEST', tool_policy: 'none' },
    });
  });

  test('never links a sender to a person by their shared name', async () => {
    const code = note('42', { sender: { raw_id: '42', raw_username: 'Owner' } });
    expect((await pair({ code })).json()).toMatchObject({ principal: { key: 'owner-2' }, trust: { trust_tier: 'KNOWN' } });
  });

  test.each([
    ['a name without latin letters', 'Анна', 'guest'],
    ['no name', undefined, '42'],
  ])('derives a key from %s', async (_who, raw_username, key) => {
    expect((await pair({ code: note('42', { sender: { raw_id: '42', raw_username } }) })).json().principal.key).toBe(key);
  });

  test('answers 404 for an unknown code, with the command to use', async () => {
    note('42');
    const answer = await pair({ code: 'ZZZZ-ZZZZ' });
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toMatchObject({ error: 'not_found', message: expect.stringContaining('svc pair') as string });
  });

  test('answers 404 for an expired code', async () => {
    const code = note('42');
    bench.clock.advance(60 * 60_000);
    expect((await pair({ code })).statusCode).toBe(404);
  });

  test('answers 404 for a code issued by a clock that was ahead, and the sender gets a new one', async () => {
    bench.clock.setBack(-48 * 60 * 60_000);
    const codes = Array.from({ length: 3 }, () => {
      bench.clock.advance(60 * 60_000);
      return note('42');
    });
    bench.clock.setBack(48 * 60 * 60_000);
    expect((await pair({ code: codes[2] ?? '' })).statusCode).toBe(404);
    expect((await pair({ code: note('42') })).statusCode).toBe(200);
  });

  test('accepts a code once', async () => {
    const code = note('42');
    expect((await pair({ code })).statusCode).toBe(200);
    expect((await pair({ code })).statusCode).toBe(404);
  });

  test('refuses every code, even a right one, for the rest of a minute with ten wrong codes', async () => {
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
  ])('rejects %s and changes nothing', async (_what, extra, status) => {
    const code = note('42');
    expect((await pair({ code, ...extra })).statusCode).toBe(status);
    expect(await bench.core.context.db.all('SELECT id FROM principal')).toHaveLength(1);
    expect(await letsIn('42')).toBe(false);
    expect((await pair({ code })).statusCode).toBe(200);
  });

  test('removes the pending sender in the same transaction', async () => {
    const code = note('42');
    expect(await waiting()).toHaveLength(1);
    const stored = () => bench.core.context.db.all('SELECT id FROM pending_identity');
    expect((await pair({ code, role: 'emperor' })).statusCode).toBe(404);
    expect(await stored()).toHaveLength(1);
    await pair({ code });
    expect(await stored()).toEqual([]);
  });

  test('creates one person when called twice at once', async () => {
    const code = note('42');
    const statuses = (await Promise.all([pair({ code }), pair({ code })])).map(({ statusCode }) => statusCode);
    expect(statuses).toContain(200);
    expect(statuses).not.toEqual([200, 200]);
    expect(await bench.core.context.db.all('SELECT id FROM principal')).toHaveLength(2);
  });
});

describe('POST /trust/pending/:id/link', () => {
  const link = async (payload: object) => post(`/trust/pending/${(await first()).id}/link`, payload);

  test('links to a person by id', async () => {
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

  test('links to a new person', async () => {
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
  ])('rejects %s, and the sender stays pending', async (_what, payload, status) => {
    note('42');
    expect((await link(payload)).statusCode).toBe(status);
    expect(await waiting()).toHaveLength(1);
    expect(await bench.core.context.db.all('SELECT id FROM principal')).toHaveLength(1);
  });

  test('answers 404 for an unknown id', async () => {
    expect((await post('/trust/pending/pending_0/link', { principal_id: 'x' })).statusCode).toBe(404);
  });

  test('answers 409 for an identifier of another person, and leaves it there', async () => {
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
  test('removes the sender and invalidates the code', async () => {
    const code = note('42');
    const { id } = await first();
    expect((await remove(`/trust/pending/${id}`)).json()).toEqual({ ok: true });
    expect((await remove(`/trust/pending/${id}`)).statusCode).toBe(404);
    expect((await pair({ code })).statusCode).toBe(404);
    expect(await waiting()).toEqual([]);
  });
});

describe('DELETE /trust/identifiers/:iid', () => {
  test('undoes a pairing: the next message is denied', async () => {
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

  test('can remove an identifier from an owner created by mistake', async () => {
    const { identifier } = (await pair({ code: note('42'), role: 'owner' })).json();
    expect((await remove(`/trust/identifiers/${identifier.id}`)).statusCode).toBe(200);
  });

  test('refuses to remove the last identifier of the last owner', async () => {
    const ways = (await bench.core.context.trustAdmin.readPrincipal('owner')).identifiers.map(({ id }) => id);
    expect(ways.length).toBeGreaterThan(1);
    const statuses = [];
    for (const id of ways) statuses.push((await remove(`/trust/identifiers/${id}`)).statusCode);
    expect(statuses).toEqual([...ways.slice(1).map(() => 200), 409]);
  });
});

test('the seed file can raise the role of a paired person by key alone', async () => {
  const { principal } = (await pair({ code: note('42') })).json();
  const seed = path.join(bench.core.folder, 'trust.seed.json');
  writeFileSync(seed, JSON.stringify({ principals: [{ key: principal.key, role: 'trusted', identifiers: [] }] }));
  await seedTrust(createTrustStore(bench.core.context.db, bench.clock, randomIds), seed);
  bench.core.context.trust.changed();
  expect(await bench.core.context.trust.resolve(from('42'))).toMatchObject({ trust_tier: 'TRUSTED', display_name: 'Anna K.' });
});
