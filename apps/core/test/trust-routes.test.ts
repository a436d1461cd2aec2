import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { Grant, Identifier, Principal, Role, TrustChange } from '@svc/contract/trust.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { envelope } from './open-test-core.ts';
import { openTestTrust, type TestTrust } from './open-test-trust.ts';

let core: TestTrust;
let clock: FakeClock;
beforeEach(async () => {
  clock = createFakeClock();
  core = await openTestTrust(clock);
});
afterEach(() => core.close());

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
const call = (method: Method, url: string, payload?: object, headers = {}) =>
  core.app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) });
const ok = async <T>(...args: Parameters<typeof call>): Promise<T> => {
  const answer = await call(...args);
  expect([answer.statusCode, answer.body]).toEqual([200, answer.body]);
  return answer.json() as T;
};
const status = async (...args: Parameters<typeof call>) => (await call(...args)).statusCode;
const fieldsOf = async (...args: Parameters<typeof call>): Promise<string[]> => {
  const answer = await call(...args);
  expect(answer.statusCode).toBe(400);
  return (answer.json().fields as { field: string }[]).map(({ field }) => field).toSorted();
};

const anna = { key: 'anna', display_name: 'Anna' };
const add = (body: object = anna) => ok<Principal>('POST', '/trust/principals', body);
const link = (key: string, surface: string, value: string) =>
  ok<Identifier>('POST', `/trust/principals/${key}/identifiers`, { surface, value });
const grant = (key: string, body: object) => ok<Grant>('POST', `/trust/principals/${key}/grants`, body);
const audit = async (query = '') => await ok<{ audit: TrustChange[]; next: number | null }>('GET', `/trust/audit${query}`);
const resolve = (channel: string, raw_id: string, more: object = {}) =>
  ok<Record<string, unknown>>('POST', '/trust/resolve', { channel, sender: { raw_id }, ...more });
/** Anna is known on the messenger as 42. */
async function addAnna(role = 'known'): Promise<Grant> {
  await add();
  await link('anna', 'messenger', '42');
  return grant('anna', { role_id: role });
}
const from = (raw_id: string, text = 'hi', over: Partial<Envelope> = {}): Envelope =>
  envelope(text, { channel: 'messenger', conversation_key: `messenger:m1:user:${raw_id}`, sender: { raw_id }, ...over });

describe('principals', () => {
  test('are made, read by id and by key, listed, changed and deleted', async () => {
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
    clock.advance(5);
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

  test('with a key that is taken are 409', async () => {
    await add();
    expect(await status('POST', '/trust/principals', anna)).toBe(409);
  });

  test('[T03] that are deleted take their identifiers and grants with them, and the identifier may be given anew', async () => {
    await addAnna();
    expect(await core.letsIn(from('42'))).toBe(true);
    await ok('DELETE', '/trust/principals/anna');
    expect(await core.letsIn(from('42'))).toBe(false);
    expect(await core.context.db.all("SELECT id FROM identifier WHERE value = '42'")).toEqual([]);
    await add({ key: 'bob', display_name: 'Bob' });
    await link('bob', 'messenger', '42');
    expect(await resolve('messenger', '42')).toMatchObject({ principal_key: 'bob', denied: true });
  });
});

describe('identifiers', () => {
  test('[T03] belong to one principal: to another they are 409, to the same one they are as they were', async () => {
    await add();
    await add({ key: 'bob', display_name: 'Bob' });
    const first = await link('anna', 'email', 'Anna@Example.org');
    expect(first).toMatchObject({ surface: 'email', value: 'anna@example.org' });
    expect(await link('anna', 'email', 'ANNA@example.org')).toEqual(first);
    const taken = await call('POST', '/trust/principals/bob/identifiers', { surface: 'email', value: 'anna@EXAMPLE.org' });
    expect([taken.statusCode, taken.json().message]).toEqual([409, 'email "anna@EXAMPLE.org" belongs to the principal "anna".']);
    expect(await status('POST', '/trust/principals/nobody/identifiers', { surface: 'email', value: 'x' })).toBe(404);
  });

  test('are compared to the letter where names do not ignore case', async () => {
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
  ])('[T05] on "%s" with the value "%s" are refused', async (surface, value, fields) => {
    await add();
    expect(await fieldsOf('POST', '/trust/principals/anna/identifiers', { surface, value })).toEqual(fields);
  });

  test.each(['__proto__', 'constructor', 'toString', ''])('[T05] "%s" as surface or value is nobody', async (name) => {
    expect(await resolve('compat', name)).toMatchObject({ denied: true, denial: 'unknown_sender', tool_policy: 'none' });
    expect(await resolve(name, 'owner')).toMatchObject({ denied: true, denial: 'unknown_sender', principal_id: null });
  });

  test('[T05] with broken characters are nobody, also where one of the replaced form is known', async () => {
    await addAnna();
    await link('anna', 'chatroom', '\ufffd');
    expect(await resolve('chatroom', '\ufffd')).toMatchObject({ denied: false });
    expect(await core.context.trust.resolve(from('\ud800', 'hi', { channel: 'chatroom' }))).toMatchObject({ denied: true });
  });
});

describe('roles', () => {
  const friend = { name: 'friend', tier: 'KNOWN', tool_policy: 'read' };

  test('are made, changed in the fields that are given, listed and deleted', async () => {
    const made = await ok<Role>('POST', '/trust/roles', { ...friend, description: 'Friends.' });
    expect(made).toMatchObject({ ...friend, surfaces: '*', tool_servers: '*', description: 'Friends.' });
    expect(await ok('POST', '/trust/roles', friend)).toEqual(made);
    const changed = await ok<Role>('POST', '/trust/roles', { ...friend, tier: 'GUEST', surfaces: ['email'] });
    expect(changed).toEqual({ ...made, tier: 'GUEST', surfaces: ['email'] });
    const { roles } = await ok<{ roles: Role[] }>('GET', '/trust/roles');
    expect(roles.map(({ name }) => name)).toEqual(['owner', 'trusted', 'known', 'guest', 'friend']);
    expect(await ok('DELETE', '/trust/roles/friend')).toEqual({ ok: true });
    expect(await status('DELETE', `/trust/roles/${made.id}`)).toBe(404);
  });

  test('keep the tool servers that were set for them, which is a change like any other', async () => {
    expect(await ok('PUT', '/trust/roles/guest/tool-servers', { tool_servers: ['files'] })).toMatchObject({ role: 'guest' });
    const guest = await ok<Role>('POST', '/trust/roles', { name: 'guest', tier: 'GUEST', tool_policy: 'none' });
    expect(guest.tool_servers).toEqual(['files']);
    expect((await audit()).audit[0]).toMatchObject({ what: 'role_changed', after: { name: 'guest', tool_servers: ['files'] } });
    expect(await status('PUT', '/trust/roles/nobody/tool-servers', { tool_servers: '*' })).toBe(404);
  });

  test.each([
    [{ ...friend, tier: 'KING' }, ['body.tier']],
    [{ ...friend, tier: 'known' }, ['body.tier']],
    [{ ...friend, tier: '' }, ['body.tier']],
    [{ ...friend, tier: null, tool_policy: 'all' }, ['body.tier', 'body.tool_policy']],
    [{ name: 'friend' }, ['body.tier', 'body.tool_policy']],
    [{ ...friend, name: '__proto__' }, ['body.name']],
    [{ ...friend, teir: 'GUEST' }, ['body.teir']],
  ])('[T04] %j is refused by its fields, and nothing is stored', async (body, fields) => {
    expect(await fieldsOf('POST', '/trust/roles', body)).toEqual(fields);
    expect((await ok<{ roles: Role[] }>('GET', '/trust/roles')).roles).toHaveLength(4);
  });

  test('[T04] an unknown tier is told with those there are', async () => {
    const { message } = (await call('POST', '/trust/roles', { ...friend, tier: 'KING' })).json();
    expect(message).toContain('body.tier must be one of BLOCKED, UNKNOWN, GUEST, KNOWN, TRUSTED, SACRED');
  });

  test('[T04] a tier in the store that nobody knows lets nobody in', async () => {
    await addAnna();
    core.context.db.raw.exec("UPDATE role SET tier = 'EMPEROR' WHERE name = 'known'");
    core.context.trust.changed();
    expect(await resolve('messenger', '42')).toMatchObject({ denied: true });
  });

  test('that somebody has cannot be deleted, and it is said who', async () => {
    await addAnna();
    const refused = await call('DELETE', '/trust/roles/known');
    expect([refused.statusCode, refused.json()]).toMatchObject([409, { principals: ['anna'] }]);
    expect(refused.json().message).toContain('granted to anna');
  });

  test('take a list of surfaces, or "*" for all of them', async () => {
    expect(await status('POST', '/trust/roles', { ...friend, surfaces: [] })).toBe(400);
    expect(await status('POST', '/trust/roles', { ...friend, surfaces: 'email' })).toBe(400);
    expect(await status('POST', '/trust/roles', { ...friend, surfaces: ['*'] })).toBe(400);
  });
});

describe('grants', () => {
  test('count where and as long as they say', async () => {
    await addAnna('guest');
    const scope = { surface: 'messenger', conversation_key: 'k1' };
    const made = await grant('anna', { role_id: 'trusted', scope, expires_at: clock.now() + 1000 });
    expect(made).toMatchObject({ role: 'trusted', scope, expires_at: clock.now() + 1000 });
    const tier = async (conversation_key: string) =>
      (await resolve('messenger', '42', { context: { conversation_key } }))['trust_tier'];
    expect([await tier('k1'), await tier('k2')]).toEqual(['TRUSTED', 'GUEST']);
    clock.advance(1000);
    expect(await tier('k1')).toBe('GUEST');
  });

  test('given again change nothing but their end', async () => {
    const first = await addAnna();
    expect(await grant('anna', { role_id: first.role_id })).toEqual(first);
    const until = clock.now() + 1000;
    expect(await grant('anna', { role_id: 'known', expires_at: until })).toEqual({ ...first, expires_at: until });
    const places = [{ surface: 'email' }, { conversation_key: 'k1' }, { surface: 'email', conversation_key: 'k1' }];
    for (const scope of [...places, ...places]) await grant('anna', { role_id: 'known', scope });
    const { grants } = await ok<Principal>('GET', '/trust/principals/anna');
    expect(grants.map(({ scope }) => scope)).toEqual([{}, ...places]);
  });

  test('are taken away', async () => {
    const { id } = await addAnna();
    expect(await ok('DELETE', `/trust/grants/${id}`)).toEqual({ ok: true });
    expect(await resolve('messenger', '42')).toMatchObject({ denied: true, denial: 'no_grant' });
    expect(await status('DELETE', `/trust/grants/${id}`)).toBe(404);
  });

  test.each([
    ['no role', {}, 400],
    ['a role that is not there', { role_id: 'emperor' }, 404],
    ['an end in the past', { role_id: 'known', expires_at: 1 }, 400],
    ['an end that is no time', { role_id: 'known', expires_at: '2030-01-01' }, 400],
    ['a scope with a slip in it', { role_id: 'owner', scope: { surfaces: 'email' } }, 400],
    ['a field with a slip in it', { role_id: 'owner', scopes: { surface: 'email' } }, 400],
  ])('with %s are refused', async (_what, body, expected) => {
    await add();
    expect(await status('POST', '/trust/principals/anna/grants', body)).toBe(expected);
    expect((await ok<Principal>('GET', '/trust/principals/anna')).grants).toEqual([]);
  });
});

describe('every bad field is named', () => {
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
  ] as const)('%s %s %j', async (method, url, body, fields) => {
    expect(await fieldsOf(method, url, body)).toEqual(fields);
  });
});

describe('the last principal with every right', () => {
  const owner = () => ok<Principal>('GET', '/trust/principals/owner');
  const isRefused = async (...args: Parameters<typeof call>) => {
    const before = await owner();
    const answer = await call(...args);
    expect([answer.statusCode, answer.json().error]).toEqual([409, 'conflict']);
    expect(await owner()).toEqual(before);
    expect(await resolve('compat', 'owner')).toMatchObject({ trust_tier: 'SACRED', denied: false });
  };

  test('cannot be disabled, deleted, blocked, or lose grant or role', async () => {
    const { grants } = await owner();
    await ok('POST', '/trust/roles', { name: 'blocked', tier: 'BLOCKED', tool_policy: 'none' });
    await isRefused('PATCH', '/trust/principals/owner', { status: 'disabled' });
    await isRefused('DELETE', '/trust/principals/owner');
    await isRefused('DELETE', `/trust/grants/${grants[0]?.id}`);
    await isRefused('POST', '/trust/principals/owner/grants', { role_id: 'owner', expires_at: clock.now() + 1000 });
    await isRefused('POST', '/trust/principals/owner/grants', { role_id: 'blocked' });
    await isRefused('POST', '/trust/roles', { name: 'owner', tier: 'TRUSTED', tool_policy: 'full' });
    await isRefused('POST', '/trust/roles', { name: 'owner', tier: 'SACRED', tool_policy: 'full', surfaces: ['email'] });
    await isRefused('DELETE', '/trust/roles/owner');
  });

  test('may be given another name, and is not the last while another has every right for good', async () => {
    await ok('PATCH', '/trust/principals/owner', { display_name: 'Ada' });
    await addAnna('owner');
    const until = await grant('anna', { role_id: 'owner', scope: { surface: 'email' } });
    await ok('PATCH', '/trust/principals/owner', { status: 'disabled' });
    await ok('DELETE', `/trust/grants/${until.id}`);
    expect(await status('PATCH', '/trust/principals/anna', { status: 'disabled' })).toBe(409);
    await ok('PATCH', '/trust/principals/owner', { status: 'active' });
    await ok('DELETE', '/trust/principals/anna');
  });

  test.each([
    ['for a while only', { role_id: 'owner', expires_at: 1_900_000_000_000 }],
    ['in one place only', { role_id: 'owner', scope: { surface: 'email' } }],
    ['in one conversation only', { role_id: 'owner', scope: { conversation_key: 'k' } }],
  ])('is the last also beside one who has every right %s', async (_how, body) => {
    await add();
    await grant('anna', body);
    expect(await status('DELETE', '/trust/principals/owner')).toBe(409);
  });

  test('of two deletions at once one is refused', async () => {
    await addAnna('owner');
    const statuses = await Promise.all([status('DELETE', '/trust/principals/owner'), status('DELETE', '/trust/principals/anna')]);
    expect(statuses.toSorted()).toEqual([200, 409]);
  });
});

describe('POST /trust/resolve', () => {
  test('caps trust where the envelope or its context is public', async () => {
    for (const more of [{ public: true }, { context: { public: true } }]) {
      expect(await resolve('compat', 'owner', more)).toMatchObject({ trust_tier: 'TRUSTED', tool_policy: 'full' });
    }
    expect(await resolve('compat', 'owner', { context: { public: false } })).toMatchObject({ trust_tier: 'SACRED' });
  });

  test('explains which grants count and which do not, and what was capped', async () => {
    await addAnna('owner');
    await grant('anna', { role_id: 'guest', scope: { surface: 'email' } });
    await grant('anna', { role_id: 'known', scope: { conversation_key: 'k1' } });
    await grant('anna', { role_id: 'trusted', expires_at: clock.now() + 1 });
    await ok('POST', '/trust/roles', { name: 'mail', tier: 'KNOWN', tool_policy: 'read', surfaces: ['email', 'issues'] });
    await grant('anna', { role_id: 'mail' });
    clock.advance(1);
    const explained = await resolve('messenger', '42', { public: true, explain: true });
    expect(explained).toMatchObject({
      trust_tier: 'TRUSTED',
      explanation: {
        identifier: { surface: 'messenger', value: '42' },
        principal: { key: 'anna', status: 'active' },
        capped_from: 'SACRED',
      },
    });
    const { grants } = explained['explanation'] as { grants: { role: string; misfit: string | null }[] };
    expect(Object.fromEntries(grants.map(({ role, misfit }) => [role, misfit]))).toEqual({
      owner: null,
      guest: 'it is for email only',
      known: 'it is for the conversation k1 only',
      trusted: 'it has expired',
      mail: 'the role counts on email, issues only',
    });
  });

  test('says in words what counts and what does not', async () => {
    expect(await resolve('compat', 'owner')).toMatchObject({ reason: 'granted SACRED' });
    expect(await resolve('compat', 'owner', { public: true })).toMatchObject({
      reason: 'granted SACRED, capped to TRUSTED on a public surface',
    });
    expect(await resolve('compat', 'x')).toMatchObject({ reason: 'no principal has this identifier', display_name: 'unknown' });
    const { id } = await addAnna('guest');
    await ok('DELETE', `/trust/grants/${id}`);
    expect(await resolve('messenger', '42')).toMatchObject({
      reason: 'the principal has no grant that fits here',
      display_name: 'Anna',
    });
    await ok('PATCH', '/trust/principals/anna', { status: 'disabled' });
    expect(await resolve('messenger', '42')).toMatchObject({ reason: 'the principal is disabled' });
  });

  test('explains in which place each grant counts', async () => {
    await addAnna();
    const scopes = [{ surface: 'email' }, { conversation_key: 'k1' }, { surface: 'email', conversation_key: 'k1' }];
    for (const scope of scopes) await grant('anna', { role_id: 'guest', scope });
    const { grants } = (await resolve('messenger', '42', { explain: true }))['explanation'] as { grants: { scope: object }[] };
    expect(grants.map(({ scope }) => scope)).toEqual(expect.arrayContaining([{}, ...scopes]));
    expect(await resolve('compat', 'owner', { explain: true })).toMatchObject({ explanation: { capped_from: null } });
  });

  test('who passes moderation is so by what is set for them', async () => {
    await addAnna();
    expect(await resolve('messenger', '42')).toMatchObject({ bypass_moderation: false });
    expect(await ok('PATCH', '/trust/principals/anna', { bypass_moderation: true })).toMatchObject({ bypass_moderation: true });
    expect(await resolve('messenger', '42')).toMatchObject({ bypass_moderation: true });
  });

  test('explains that somebody is nobody', async () => {
    expect(await resolve('email', 'X@y.z', { explain: true })).toMatchObject({
      denied: true,
      explanation: { identifier: { value: 'x@y.z' }, principal: null, grants: [], capped_from: null },
    });
  });

  test('explains a disabled principal and a closed gate', async () => {
    await addAnna();
    await ok('PATCH', '/trust/principals/anna', { status: 'disabled' });
    expect(await resolve('messenger', '42', { explain: true })).toMatchObject({
      denial: 'disabled',
      explanation: { principal: { status: 'disabled' }, grants: [{ role: 'known', misfit: null }] },
    });
    core.context.trust.closeGate('no trust');
    expect(await resolve('messenger', '42', { explain: true })).toMatchObject({ denial: 'gate_closed', reason: 'no trust' });
  });
});

describe('the last principal with every right, in words', () => {
  test('is named when it cannot go', async () => {
    expect((await call('DELETE', '/trust/principals/owner')).json().message).toMatch(/^"owner" is the last with every right/);
  });

  test('is not counted while somebody beside it is blocked', async () => {
    await ok('POST', '/trust/roles', { name: 'blocked', tier: 'BLOCKED', tool_policy: 'none' });
    await addAnna('owner');
    await grant('anna', { role_id: 'blocked' });
    expect(await status('DELETE', '/trust/principals/owner')).toBe(409);
    const { grants } = await ok<Principal>('GET', '/trust/principals/anna');
    await ok('DELETE', `/trust/grants/${grants.find(({ role }) => role === 'blocked')?.id}`);
    expect(await status('DELETE', '/trust/principals/owner')).toBe(200);
  });
});

describe('the audit', () => {
  test('has every change with who did it, what it was and what it became, newest first and in pages', async () => {
    const { id } = await addAnna();
    await ok('PATCH', '/trust/principals/anna', { status: 'disabled' });
    await ok('DELETE', `/trust/grants/${id}`);
    await ok('DELETE', '/trust/principals/anna');
    const { audit: changes, next } = await audit('?principal=anna');
    expect(next).toBeNull();
    expect(changes.map(({ what, actor, before, after }) => ({ what, actor, before, after }))).toMatchObject([
      { what: 'principal_deleted', actor: 'local', before: { status: 'disabled', identifiers: [{ value: '42' }] }, after: null },
      { what: 'revoked', before: { role: 'known' }, after: null },
      { what: 'principal_changed', before: { status: 'active' }, after: { status: 'disabled' } },
      { what: 'granted', before: null, after: { role: 'known', scope: {}, expires_at: null } },
      { what: 'linked', before: null, after: { surface: 'messenger', value: '42' } },
      { what: 'principal_created', before: null, after: { display_name: 'Anna' } },
    ]);
    const page = await audit('?limit=2');
    expect(page.audit.map(({ what }) => what)).toEqual(['principal_deleted', 'revoked']);
    const rest = await audit(`?limit=100&before=${page.next}`);
    expect(rest.audit.at(-1)).toMatchObject({ what: 'seeded', actor: 'seed', principal: 'owner' });
    expect(rest.audit).toHaveLength(5);
  });

  test('says that there is no more where a page ends with the first change', async () => {
    await add();
    const all = (await audit()).audit.length;
    expect(await audit(`?limit=${all}`)).toMatchObject({ next: null });
    const { audit: page, next } = await audit(`?limit=${all - 1}`);
    expect(next).toBe(page.at(-1)?.id);
    expect((await audit(`?principal=anna&limit=1`)).audit).toHaveLength(1);
  });

  test('tells a role that is new from one that was changed, and one that is gone', async () => {
    const role = { name: 'friend', tier: 'KNOWN', tool_policy: 'read' };
    await ok('POST', '/trust/roles', role);
    await ok('POST', '/trust/roles', role);
    await ok('POST', '/trust/roles', { ...role, tier: 'GUEST' });
    await ok('DELETE', '/trust/roles/friend');
    const { audit: changes } = await audit('?limit=3');
    expect(changes.map(({ what, before, after }) => [what, before?.['tier'], after?.['tier']])).toEqual([
      ['role_deleted', 'GUEST', undefined],
      ['role_changed', 'KNOWN', 'GUEST'],
      ['role_created', undefined, 'KNOWN'],
    ]);
    expect(changes.at(-1)).toMatchObject({ before: null });
  });

  test('has pairing too, and each change goes out as an event', async () => {
    core.context.pending.note(from('77'), { denial: 'unknown_sender' });
    const { pending } = await ok<{ pending: { id: string }[] }>('GET', '/trust/pending');
    await ok('POST', `/trust/pending/${pending[0]?.id}/link`, { principal: { key: 'bob', role: 'guest' } });
    await ok('PATCH', '/trust/principals/bob', { notes: 'x' });
    expect((await audit('?principal=bob')).audit).toMatchObject([
      { what: 'principal_changed' },
      { what: 'linked', after: { role: 'guest' } },
    ]);
    const events = core.telemetry.events.filter(({ kind }) => kind === 'trust');
    expect(events.map(({ principal, payload }) => [principal, payload['what']])).toEqual([
      ['bob', 'linked'],
      ['bob', 'principal_changed'],
    ]);
  });

  test('has nothing of what was refused or changed nothing', async () => {
    await addAnna();
    const before = (await audit()).audit.length;
    await call('DELETE', '/trust/principals/owner');
    await grant('anna', { role_id: 'known' });
    await link('anna', 'messenger', '42');
    await ok('PATCH', '/trust/principals/anna', { display_name: 'Anna' });
    expect((await audit()).audit).toHaveLength(before);
  });

  test('takes nobody at their word: Remote-User names no actor', async () => {
    await ok('POST', '/trust/principals', anna, { 'remote-user': 'root', 'x-remote-user': 'root' });
    expect((await audit()).audit[0]).toMatchObject({ actor: 'local' });
  });

  test('holds no secret that is known or looks like one', async () => {
    const secret = 'sk-live-0123456789abcdef';
    core.context.knownSecrets.learn(['a value only we know']);
    await add({ ...anna, notes: `key: ${secret}, a value only we know` });
    const all = JSON.stringify([await audit(), core.telemetry.events]);
    expect(all).not.toContain('a value only we know');
    expect(
      (await core.context.db.all<{ after: string }>('SELECT after FROM trust_audit')).map(({ after }) => after).join(),
    ).not.toContain('a value only we know');
  });

  test('is kept without texts while the list of secrets cannot be read', async () => {
    core.context.knownSecrets.redactor = () => {
      throw new Error('unreadable');
    };
    await add();
    expect((await audit()).audit[0]).toMatchObject({ what: 'principal_created', after: { withheld: true } });
  });

  test.each(['limit=0x', 'before=-1', 'limit=many'])('with %s is 400', async (query) => {
    expect(await status('GET', `/trust/audit?${query}`)).toBe(400);
  });
});
