import { describe, expect, test } from 'vitest';
import { createRemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import { anna, from, openTrustBench, users } from './open-trust-bench.ts';

const bench = openTrustBench();
const { add, addAnna, audit, call, grant, link, ok, status } = bench;

describe('the audit log', () => {
  test('records each change with actor, before and after, newest first and in pages', async () => {
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

  test('has no next page when a page ends with the first change', async () => {
    await add();
    const all = (await audit()).audit.length;
    expect(await audit(`?limit=${all}`)).toMatchObject({ next: null });
    const { audit: page, next } = await audit(`?limit=${all - 1}`);
    expect(next).toBe(page.at(-1)?.id);
    expect((await audit(`?principal=anna&limit=1`)).audit).toHaveLength(1);
  });

  test('distinguishes creating, changing and deleting a role', async () => {
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

  test('includes pairing, and emits an event for each change', async () => {
    bench.core.context.pending.note(from('77'), { denial: 'unknown_sender' });
    const { pending } = await ok<{ pending: { id: string }[] }>('GET', '/trust/pending');
    await ok('POST', `/trust/pending/${pending[0]?.id}/link`, { principal: { key: 'bob', role: 'guest' } });
    await ok('PATCH', '/trust/principals/bob', { notes: 'x' });
    expect((await audit('?principal=bob')).audit).toMatchObject([
      { what: 'principal_changed' },
      { what: 'linked', after: { role: 'guest' } },
    ]);
    const events = bench.core.telemetry.events.filter(({ kind }) => kind === 'trust');
    expect(events.map(({ principal, payload }) => [principal, payload['what']])).toEqual([
      ['bob', 'linked'],
      ['bob', 'principal_changed'],
    ]);
  });

  test('omits requests that were refused or changed nothing', async () => {
    await addAnna();
    const before = (await audit()).audit.length;
    await call('DELETE', '/trust/principals/owner');
    await grant('anna', { role_id: 'known' });
    await link('anna', 'messenger', '42');
    await ok('PATCH', '/trust/principals/anna', { display_name: 'Anna' });
    expect((await audit()).audit).toHaveLength(before);
  });

  test('ignores a Remote-User header without proof', async () => {
    await ok('POST', '/trust/principals', anna, { 'remote-user': 'root', 'x-remote-user': 'root' });
    await ok('PATCH', '/trust/principals/anna', { notes: 'x' }, createRemoteUsers('x'.repeat(43)).headersFor('root'));
    expect((await audit()).audit.slice(0, 2)).toMatchObject([{ actor: 'local' }, { actor: 'local' }]);
  });

  test('records the proven name of a person for every change', async () => {
    const proof = users.headersFor('Anna B.');
    await ok('POST', '/trust/principals', anna, proof);
    bench.core.context.pending.note(from('77'), { denial: 'unknown_sender' });
    const { pending } = await ok<{ pending: { id: string }[] }>('GET', '/trust/pending');
    await ok('POST', `/trust/pending/${pending[0]?.id}/link`, { principal: { key: 'bob', role: 'guest' } }, proof);
    await ok('DELETE', '/trust/principals/bob', undefined, proof);
    expect((await audit()).audit.slice(0, 3).map(({ actor, what }) => [actor, what])).toEqual([
      ['Anna B.', 'principal_deleted'],
      ['Anna B.', 'linked'],
      ['Anna B.', 'principal_created'],
    ]);
    const events = bench.core.telemetry.events.filter(({ kind }) => kind === 'trust');
    expect(JSON.stringify(events)).not.toContain(proof['x-svc-proof']);
  });

  test('masks known secrets and text that looks like a secret', async () => {
    const secret = 'ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8';
    bench.core.context.knownSecrets.learn(['a value only we know']);
    await add({ ...anna, notes: `key: ${secret}, a value only we know` });
    const rows = await bench.core.context.db.all('SELECT * FROM trust_audit');
    const all = JSON.stringify([await audit(), rows, bench.core.telemetry.events]);
    expect(all).not.toContain('a value only we know');
    expect(all).not.toContain(secret);
  });

  test('withholds texts while the list of secrets cannot be read', async () => {
    bench.core.context.knownSecrets.redactor = () => {
      throw new Error('unreadable');
    };
    await add();
    expect((await audit()).audit[0]).toMatchObject({ what: 'principal_created', after: { withheld: true } });
  });

  test.each(['limit=0x', 'before=-1', 'limit=many'])('rejects %s with 400', async (query) => {
    expect(await status('GET', `/trust/audit?${query}`)).toBe(400);
  });
});
