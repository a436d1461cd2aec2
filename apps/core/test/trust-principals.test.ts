import { describe, expect, test } from 'vitest';
import type { Principal, TrustChange } from '@svc/contract/trust.ts';
import { anna, from, openTrustBench } from './open-trust-bench.ts';

const bench = openTrustBench();
const { add, addAnna, call, fieldsOf, grant, link, ok, resolve, status } = bench;
const grantTrusted = (key: string) => grant(key, { role_id: 'trusted' });

describe('people', () => {
  test('can be created, read by id and key, listed, changed and deleted', async () => {
    const made = await add({ ...anna, notes: 'a friend' });
    expect(made).toMatchObject({
      ...anna,
      status: 'active',
      bypass_moderation: false,
      notes: 'a friend',
      identifiers: [],
      grants: [],
    });
    expect(await ok('GET', `/trust/principals/${made.id}`)).toEqual(made);
    expect(await ok('GET', '/trust/principals/anna')).toEqual(made);
    bench.clock.advance(5);
    const changed = await ok<Principal>('PATCH', '/trust/principals/anna', { display_name: 'Anna K.', notes: '' });
    expect(changed).toEqual({ ...made, display_name: 'Anna K.', notes: '', updated_at: made.updated_at + 5 });
    const { principals } = await ok<{ principals: Principal[] }>('GET', '/trust/principals');
    expect(principals.map(({ key }) => key)).toEqual(['owner', 'anna']);
    expect(principals[0]).toMatchObject({
      identifiers: [{ surface: 'shell' }, { surface: 'compat' }],
      grants: [{ role: 'owner' }],
    });
    expect(await ok('DELETE', `/trust/principals/${made.id}`)).toEqual({ ok: true });
    expect(await status('GET', '/trust/principals/anna')).toBe(404);
  });

  test('are listed in pages, each once', async () => {
    for (let n = 0; n < 5; n++) {
      await add({ key: `p${n}`, display_name: `P ${n}` });
      await link(`p${n}`, 'messenger', `4${n}`);
    }
    const keys: string[] = [];
    for (let after: string | null = ''; after !== null;) {
      const page: { principals: Principal[]; next: string | null } = await ok('GET', `/trust/principals?limit=2&after=${after}`);
      expect(page.principals.length).toBeLessThanOrEqual(2);
      keys.push(...page.principals.map(({ key }) => key));
      for (const one of page.principals) expect(one).toEqual(await ok('GET', `/trust/principals/${one.key}`));
      after = page.next;
    }
    expect(keys).toEqual(['owner', 'p0', 'p1', 'p2', 'p3', 'p4']);
  });

  test.each(['anna', 'Anna', 'ANNA'])('with an existing key are rejected with 409, ignoring case (%s)', async (key) => {
    await add();
    expect(await status('POST', '/trust/principals', { ...anna, key })).toBe(409);
  });

  test('[T03] are deleted with their identifiers and grants, and an identifier can be reused', async () => {
    await addAnna();
    expect(await bench.core.letsIn(from('42'))).toBe(true);
    await ok('DELETE', '/trust/principals/anna');
    expect(await bench.core.letsIn(from('42'))).toBe(false);
    expect(await bench.core.context.db.all("SELECT id FROM identifier WHERE value = '42'")).toEqual([]);
    await add({ key: 'bob', display_name: 'Bob' });
    await link('bob', 'messenger', '42');
    expect(await resolve('messenger', '42')).toMatchObject({ principal_key: 'bob', denied: true });
  });
});

describe('identifiers', () => {
  test('[T03] belong to one person: linking again is idempotent, and to another person answers 409', async () => {
    await add();
    await add({ key: 'bob', display_name: 'Bob' });
    const first = await link('anna', 'email', 'Anna@Example.org');
    expect(first).toMatchObject({ surface: 'email', value: 'anna@example.org' });
    expect(await link('anna', 'email', 'ANNA@example.org')).toEqual(first);
    const taken = await call('POST', '/trust/principals/bob/identifiers', { surface: 'email', value: 'anna@EXAMPLE.org' });
    expect([taken.statusCode, taken.json().message]).toEqual([409, 'email "anna@EXAMPLE.org" belongs to the person "anna".']);
    expect(await status('POST', '/trust/principals/nobody/identifiers', { surface: 'email', value: 'x' })).toBe(404);
  });

  test('are moved in one step, but not from a third person, and not the last one of an owner', async () => {
    await addAnna();
    const second = await add({ key: 'ben', display_name: 'Ben' });
    const first = await ok<Principal>('GET', '/trust/principals/anna');
    const name = { surface: 'messenger', value: '42' };
    const move = (to: string, from: string, of: { surface: string; value: string } = name) =>
      status('POST', `/trust/principals/${to}/identifiers`, { surface: of.surface, value: of.value, from });
    expect(await move('owner', second.id)).toBe(409);
    expect([await move('ben', first.id), await move('ben', first.id)]).toEqual([200, 200]);
    expect(await resolve('messenger', '42')).toMatchObject({ principal_key: 'ben' });
    expect((await ok<Principal>('GET', '/trust/principals/anna')).identifiers).toEqual([]);
    const { audit } = await ok<{ audit: TrustChange[] }>('GET', '/trust/audit?limit=1');
    expect(audit).toMatchObject([{ what: 'moved', principal: 'ben', before: { principal: 'anna' }, after: name }]);

    const owner = await ok<Principal>('GET', '/trust/principals/owner');
    const codes = [];
    for (const of of owner.identifiers) codes.push(await move('ben', owner.id, of));
    expect(codes.at(-1)).toBe(409);
    expect((await ok<Principal>('GET', '/trust/principals/owner')).identifiers).toHaveLength(1);
  });

  test('are compared exactly on channels whose names are case-sensitive', async () => {
    await addAnna();
    await link('anna', 'chatroom', 'Anna');
    expect(await resolve('chatroom', 'anna')).toMatchObject({ denial: 'unknown_sender' });
    expect(await resolve('email', 'ANNA')).toMatchObject({ denial: 'unknown_sender' });
  });

  test.each([
    ['__proto__', 'x', ['body.surface']],
    ['', 'x', ['body.surface']],
    ['email', '', ['body.value']],
    ['email', '  ', ['body.value']],
    ['email', ' anna', ['body.value']],
    ['email', 'an\u0000na', ['body.value']],
    ['email', '\ud800', ['body.value']],
    ['E-mail', '', ['body.surface', 'body.value']],
  ])('[T05] on "%s" with the value "%s" are rejected', async (surface, value, fields) => {
    await add();
    expect(await fieldsOf('POST', '/trust/principals/anna/identifiers', { surface, value })).toEqual(fields);
  });

  test.each([
    ['email', 'mi\u212ae@example.org'],
    ['email', 'mike@example.org\u200b'],
    ['email', 'ｍike@example.org'],
    ['messenger', 'ﬁona'],
    ['messenger', 'Zoe\u0308'],
    ['messenger', '\u202eekim'],
    ['messenger', 'mi\u00adke'],
  ])('on %s with an ambiguous spelling (%j) are rejected with the field', async (surface, value) => {
    await add();
    expect(await fieldsOf('POST', '/trust/principals/anna/identifiers', { surface, value })).toEqual(['body.value']);
  });

  test.each(['mi\u212ae@example.org', 'mıke@example.org', 'ｍike@example.org', 'mike@example.org\u200b', ' mike@example.org'])(
    'resembling another one (%j) resolve to an unknown sender',
    async (value) => {
      await add();
      await link('anna', 'email', 'Mike@example.org');
      await grantTrusted('anna');
      expect(await resolve('email', 'MIKE@EXAMPLE.ORG')).toMatchObject({ denied: false, trust_tier: 'TRUSTED' });
      expect(await resolve('email', value)).toMatchObject({ denied: true, denial: 'unknown_sender' });
      const message = from(value, 'hi', { channel: 'email', conversation_key: 'email:e1:thread:1' });
      expect(await bench.core.letsIn(message)).toBe(false);
      const explained = await resolve('email', value, { explain: true });
      expect(explained).toMatchObject({ explanation: { identifier: { surface: 'email', value } } });
    },
  );

  test.each([
    ['weiß@example.org', 'weiss@example.org'],
    ['WEISS@example.org', 'weiß@example.org'],
    ['ılgaz@example.org', 'ILGAZ@example.org'],
    ['γιώργος@example.org', 'γιώργοσ@example.org'],
  ])('%s and %s cannot belong to two people, since they differ in spelling only', async (first, second) => {
    await add();
    await add({ key: 'bob', display_name: 'Bob' });
    await link('anna', 'email', first);
    const refused = await call('POST', '/trust/principals/bob/identifiers', { surface: 'email', value: second });
    expect([refused.statusCode, refused.json().message]).toEqual([400, expect.stringContaining('could be mistaken for')]);
    await link('anna', 'email', second);
    await link('bob', 'messenger', second);
  });

  test.each(['Müller@Example.org', '山田@example.org', 'ольга@example.org'])('%s is accepted as a name', async (value) => {
    await add();
    await link('anna', 'email', value);
    await grantTrusted('anna');
    expect(await resolve('email', value)).toMatchObject({ denied: false });
    expect(await resolve('email', value.toLowerCase())).toMatchObject({ denied: false });
  });

  test.each(['__proto__', 'constructor', 'toString', ''])('[T05] "%s" as channel or value is an unknown sender', async (name) => {
    expect(await resolve('compat', name)).toMatchObject({ denied: true, denial: 'unknown_sender', tool_policy: 'none' });
    expect(await resolve(name, 'owner')).toMatchObject({ denied: true, denial: 'unknown_sender', principal_id: null });
  });

  test('[T05] with broken characters are unknown, even if the replacement character is known', async () => {
    await addAnna();
    await link('anna', 'chatroom', '\ufffd');
    expect(await resolve('chatroom', '\ufffd')).toMatchObject({ denied: false });
    expect(await bench.core.context.trust.resolve(from('\ud800', 'hi', { channel: 'chatroom' }))).toMatchObject({ denied: true });
  });
});

describe('invalid fields', () => {
  test.each([
    ['POST', '/trust/principals', {}, ['body.display_name', 'body.key']],
    [
      'POST',
      '/trust/principals',
      { key: 'an na', display_name: '', notes: 5 },
      ['body.display_name', 'body.display_name', 'body.key', 'body.notes'],
    ],
    ['POST', '/trust/principals', { ...anna, trust_tier: 'SACRED' }, ['body.trust_tier']],
    ['PATCH', '/trust/principals/owner', { status: 'gone', bypass_moderation: 'yes' }, ['body.bypass_moderation', 'body.status']],
    ['PATCH', '/trust/principals/owner', { key: 'root' }, ['body.key']],
    ['PATCH', '/trust/principals/owner', {}, ['body']],
    ['POST', '/trust/resolve', { sender: {} }, ['body.channel', 'body.sender.raw_id']],
  ] as const)('are all named: %s %s %j', async (method, url, body, fields) => {
    expect(await fieldsOf(method, url, body)).toEqual(fields);
  });
});
