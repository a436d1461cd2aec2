import { describe, expect, onTestFinished, test } from 'vitest';
import type { Invitation, NewInvitation } from '@svc/contract/pairing.ts';
import type { TrustChange } from '@svc/contract/trust.ts';
import { from, openPairingBench } from './open-pairing-bench.ts';
import { openTestCore } from './open-test-core.ts';

const bench = openPairingBench((clock) => openTestCore({ clock }));
const { post, remove, waiting } = bench;
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const make = async (payload: object = {}): Promise<NewInvitation> => {
  const answer = await post('/trust/invitations', payload);
  expect(answer.statusCode).toBe(200);
  return answer.json<NewInvitation>();
};
const say = async (raw_id: string, text: string, over: Parameters<typeof from>[1] = {}) =>
  (await bench.core.handle(from(raw_id, { content: { text }, ...over }))).json();
const textOf = ({ actions }: { actions: { text: string }[] }): string => actions.map(({ text }) => text).join('\n');
const personOf = async (raw_id: string) => (await bench.core.context.trust.resolve(from(raw_id))).principal_key;
const list = async () => (await bench.core.app.inject('/trust/invitations')).json<{ invitations: Invitation[] }>().invitations;
const audit = async () => (await bench.core.app.inject('/trust/audit')).json<{ audit: TrustChange[] }>().audit;

describe('an invitation', () => {
  test('admits its sender with one message as a new person with its role, without an engine', async () => {
    const { code } = await make({ name: 'Tom Berg', role: 'guest' });
    const answer = await say('42', `/start ${code}`);
    expect(answer).toMatchObject({
      outcome: 'command',
      actions: [{ type: 'reply', text: expect.stringContaining('Welcome, Tom Berg') }],
    });
    expect(bench.core.engine.requests).toHaveLength(0);
    expect(await bench.core.context.trust.resolve(from('42'))).toMatchObject({ principal_key: 'tom-berg', trust_tier: 'GUEST' });
    expect((await say('42', 'hello')).outcome).toBe('replied');
  });

  test('links another identifier to an existing person, who keeps their roles', async () => {
    const { code, invitation } = await make({ as: 'owner' });
    expect(invitation).toMatchObject({ principal: 'owner', role: null, name: null, surface: null });
    await say('42', code.toLowerCase().replaceAll('-', ' '));
    expect(await bench.core.context.trust.resolve(from('42'))).toMatchObject({ principal_key: 'owner', trust_tier: 'SACRED' });
  });

  test('works once: others are refused afterwards, and a repeated message of its user is welcomed again', async () => {
    const { code } = await make({ as: 'owner' });
    await say('42', code);
    expect(textOf(await say('43', code))).toContain('This invitation does not work');
    expect(await personOf('43')).toBeNull();
    expect(textOf(await say('42', code))).toContain('Welcome');
    expect(await list()).toEqual([]);
  });

  test('admits one of several concurrent senders', async () => {
    const { code } = await make();
    const answers = await Promise.all(['1', '2', '3', '4'].map((id) => say(id, code)));
    expect(answers.filter(({ outcome }) => outcome === 'command')).toHaveLength(1);
  });

  test('expires after ten minutes, or at the time set', async () => {
    const short = await make();
    const long = await make({ expires_at: bench.clock.now() + 7 * dayMs });
    bench.clock.advance(10 * minuteMs);
    expect((await say('1', short.code)).outcome).toBe('denied');
    expect((await list()).map(({ id }) => id)).toEqual([long.invitation.id]);
    bench.clock.advance(6 * dayMs);
    expect((await say('2', long.code)).outcome).toBe('command');
  });

  test.each(['compat', 'query'])(
    'does not admit "anonymous" over %s, which all callers without a name share',
    async (channel) => {
      const { code } = await make({ as: 'owner' });
      expect((await say('anonymous', code, { channel })).outcome).toBe('denied');
      expect(await bench.core.context.trust.resolve(from('anonymous', { channel }))).toMatchObject({ denied: true });
      expect(await list()).toHaveLength(1);
    },
  );

  test('for one channel does not work on another, and is not used up there', async () => {
    const { code } = await make({ surface: 'chatroom' });
    expect((await say('42', code)).outcome).toBe('denied');
    expect((await say('42', code, { channel: 'chatroom', conversation_key: 'chatroom:c1:user:42' })).outcome).toBe('command');
  });

  test('is not used up by a person who has access already', async () => {
    await bench.core.addPrincipal('anna', 'guest', 'messenger');
    const { code } = await make({ as: 'owner' });
    expect(textOf(await say('anna', code))).toContain('You have access already, as anna');
    expect(await personOf('anna')).toBe('anna');
    expect((await say('42', code)).outcome).toBe('command');
  });

  test('does not help a person who is disabled, blocked or without a role', async () => {
    await bench.core.addPrincipal('anna', 'guest', 'messenger');
    const { code } = await make({ as: 'owner' });
    for (const change of [
      "UPDATE principal SET status = 'disabled' WHERE key = 'anna'",
      "UPDATE principal SET status = 'active'; UPDATE role SET tier = 'BLOCKED' WHERE name = 'guest'",
      "DELETE FROM trust_grant WHERE principal_id = (SELECT id FROM principal WHERE key = 'anna')",
    ]) {
      bench.core.context.db.raw.exec(change);
      bench.core.context.trust.changed();
      expect(await say('anna', code)).toMatchObject({ outcome: 'denied', actions: [{ text: 'no access' }] });
      expect(await personOf('anna')).toBe('anna');
    }
    expect(await list()).toHaveLength(1);
  });

  test.each([
    ['in public', { public: true }],
    ['in a room', { mentioned: true }],
    ['where no answer is asked for', { delivery: 'async' as const }],
    ['by a program', { sender: { raw_id: '42', is_bot: true } }],
  ])('is ignored %s', async (_where, over) => {
    const { code } = await make({ as: 'owner' });
    expect((await say('42', code, over)).outcome).toBe('denied');
    expect(await list()).toHaveLength(1);
  });

  test('does not admit a sender whose id could be mistaken for another', async () => {
    const { code } = await make({ as: 'owner' });
    for (const raw_id of ['4\u200b2', '\uff14\uff12', 'x\n1']) {
      expect(textOf(await say(raw_id, code, { conversation_key: 'messenger:m1:user:odd' }))).toContain('cannot be told apart');
      expect(await personOf(raw_id)).toBeNull();
    }
    expect(await list()).toHaveLength(1);
  });

  test('becomes invalid with its person or its role', async () => {
    await bench.core.addPrincipal('anna', 'guest', 'compat');
    const forAnna = await make({ as: 'anna' });
    const disabled = await make({ as: 'anna' });
    const { db, trust } = bench.core.context;
    await db.run("UPDATE principal SET status = 'disabled' WHERE key = 'anna'");
    trust.changed();
    expect((await say('1', disabled.code)).outcome).toBe('denied');
    expect((await remove('/trust/principals/anna')).statusCode).toBe(200);
    expect((await say('1', forAnna.code)).outcome).toBe('denied');
    await post('/trust/roles', { name: 'friend', tier: 'KNOWN', tool_policy: 'read' });
    const forFriend = await make({ role: 'friend' });
    await remove('/trust/roles/friend');
    expect((await say('1', forFriend.code)).outcome).toBe('denied');
    expect(await personOf('1')).toBeNull();
  });

  test('removes its sender from the pending list', async () => {
    await say('42', 'hello');
    const { code } = await make();
    await say('42', code);
    expect(await waiting()).toEqual([]);
  });

  test('does not reuse the key of an existing person', async () => {
    const { code } = await make({ name: 'Owner' });
    await say('42', code);
    expect(await personOf('42')).toBe('owner-2');
  });

  test('is stored as a digest only, and deleted with the person or a day after it expired', async () => {
    const { code } = await make({ name: 'Tom' });
    await make({ name: 'Nobody came' });
    const { db } = bench.core.context;
    const rows = () => db.all<Record<string, unknown>>('SELECT * FROM invitation');
    expect(JSON.stringify(await rows())).not.toContain(code.replaceAll('-', ''));
    await say('42', code);
    expect((await remove('/trust/principals/tom')).statusCode).toBe(200);
    expect(await rows()).toHaveLength(1);
    bench.clock.advance(dayMs + 2 * 60 * minuteMs);
    await expect.poll(rows).toEqual([]);
  });
});

describe('guessing invitations', () => {
  const wrong = 'ABCD-EFGH-JKMN';

  test('a sender has five wrong codes an hour, after which even the right one is refused; others are unaffected', async () => {
    const { code } = await make({ as: 'owner' });
    for (let n = 0; n < 5; n++) expect(textOf(await say('42', wrong))).toContain('This invitation does not work');
    expect(textOf(await say('42', code))).toContain('too many wrong codes. Try again in 60 minutes');
    expect((await say('43', code)).outcome).toBe('command');
    bench.clock.advance(60 * minuteMs);
    expect(textOf(await say('42', wrong))).toContain('This invitation does not work');
  });

  test('all senders together have a hundred wrong codes a minute', async () => {
    const { code } = await make({ as: 'owner' });
    for (let n = 0; n < 100; n++) await say(`eve-${n}`, wrong);
    expect(textOf(await say('42', code))).toContain('Try again in 1 minute.');
    bench.clock.advance(minuteMs);
    expect((await say('42', code)).outcome).toBe('command');
  });

  test('a stranger still gets a pairing code after a wrong invitation', async () => {
    expect(textOf(await say('42', wrong))).toMatch(/^no access\nThis invitation .*\nTo get access, give this code/);
  });

  test('a message of a known person is never taken for a code', async () => {
    await bench.core.addPrincipal('anna', 'guest', 'messenger');
    for (let n = 0; n < 7; n++) expect((await say('anna', wrong)).outcome).toBe('replied');
  });
});

describe('managing invitations', () => {
  test('lists open invitations without their codes, and revokes one', async () => {
    const { code, invitation } = await make({ name: 'Tom' });
    expect(await list()).toEqual([invitation]);
    expect((await remove(`/trust/invitations/${invitation.id}`)).json()).toEqual({ ok: true });
    expect((await remove(`/trust/invitations/${invitation.id}`)).statusCode).toBe(404);
    expect((await say('42', code)).outcome).toBe('denied');
  });

  test.each([
    ['a person who is not there', { as: 'nobody' }, 404],
    ['a role that is not there', { role: 'king' }, 404],
    ['both', { as: 'owner', role: 'guest' }, 400],
    ['an end that is over', { expires_at: 1 }, 400],
    ['an end too far ahead', { expires_at: 8_640_000_000_000_000 }, 400],
    ['a field that nobody knows', { rôle: 'guest' }, 400],
    ['a channel that none can be', { surface: 'A B' }, 400],
  ])('refuses %s', async (_what, payload, status) => {
    expect((await post('/trust/invitations', payload)).statusCode).toBe(status);
    expect(await list()).toEqual([]);
  });

  test('allows a hundred open invitations at a time', async () => {
    for (let n = 0; n < 100; n++) await make();
    expect((await post('/trust/invitations', {})).statusCode).toBe(409);
    bench.clock.advance(11 * minuteMs);
    await make();
  });

  test('records creation, revocation and use in the audit log and as events, without any code', async () => {
    const used = await make({ name: 'Tom' });
    const gone = await make({ as: 'owner' });
    await remove(`/trust/invitations/${gone.invitation.id}`);
    await say('42', used.code);
    const changes = (await audit()).slice(0, 4);
    expect(changes.map(({ what, principal }) => [what, principal])).toEqual([
      ['joined', 'tom'],
      ['invitation_revoked', 'owner'],
      ['invited', 'owner'],
      ['invited', null],
    ]);
    const events = bench.core.telemetry.events.filter(({ kind }) => kind === 'trust');
    expect(events.map(({ payload }) => payload?.['what'])).toEqual(['invited', 'invited', 'invitation_revoked', 'joined']);
    const told = JSON.stringify([changes, bench.core.telemetry.events]);
    for (const { code } of [used, gone]) expect(told).not.toMatch(new RegExp(code.replaceAll('-', '-?')));
  });
});

test('open and used invitations survive a crash', async () => {
  const first = await openTestCore();
  const [open, used] = await Promise.all([1, 2].map(() => first.context.invitations.make('local', { as: 'owner' })));
  await first.handle(from('41', { content: { text: used?.code ?? '' } }));
  const next = await openTestCore({ dataDir: first.crash() });
  onTestFinished(() => next.close());
  const outcome = async (id: string, code = '') => (await next.handle(from(id, { content: { text: code } }))).json().outcome;
  expect(await outcome('41', used?.code)).toBe('command');
  expect(await outcome('43', used?.code)).toBe('denied');
  expect(await outcome('42', open?.code)).toBe('command');
});
