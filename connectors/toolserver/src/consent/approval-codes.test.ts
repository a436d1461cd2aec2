import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createMemoryState } from '@svc/testing/memory-state.ts';
import { createApprovalCodes } from './approval-codes.ts';
import { createApprovals } from './approvals.ts';
import { createWaitingClients } from './waiting-clients.ts';

const tenMinutesMs = 10 * 60_000;
const page = (id: string, clientId = 'c') => ({ page: id, clientId });

function open() {
  const clock = createFakeClock();
  return { clock, codes: createApprovalCodes(clock) };
}

test('a code has eight unambiguous letters or digits, and is unique', () => {
  const { codes } = open();
  const issued = Array.from({ length: 200 }, () => codes.issue().code);
  for (const code of issued) expect(code).toMatch(/^[A-HJKMNP-Z2-9]{4}-[A-HJKMNP-Z2-9]{4}$/);
  expect(new Set(issued).size).toBe(200);
});

test('a code is valid for ten minutes, in any spelling, and once', () => {
  const { clock, codes } = open();
  const { code, expiresInMs } = codes.issue();
  expect(expiresInMs).toBe(tenMinutesMs);
  clock.advance(tenMinutesMs - 1);
  expect(codes.take(` ${code.toLowerCase().replace('-', ' ')} `, page('a'))).toEqual({ outcome: 'good' });
  expect(codes.take(code, page('a'))).toEqual({ outcome: 'wrong' });
});

test('a code expires after ten minutes, or when a newer one is issued', () => {
  const { clock, codes } = open();
  const first = codes.issue().code;
  const second = codes.issue().code;
  expect(codes.take(first, page('a'))).toEqual({ outcome: 'wrong' });
  clock.advance(tenMinutesMs);
  expect(codes.take(second, page('a'))).toEqual({ outcome: 'wrong' });
});

test('rejects any text while no code is issued', () => {
  const { codes } = open();
  for (const typed of ['', 'AAAA-AAAA']) expect(codes.take(typed, page('a')).outcome).toBe('wrong');
});

test('blocks a page after five wrong codes, but no other page', () => {
  const { codes } = open();
  const { code } = codes.issue();
  const outcomes = Array.from({ length: 5 }, () => codes.take('AAAA-AAAA', page('a')).outcome);
  expect(outcomes).toEqual(['wrong', 'wrong', 'wrong', 'wrong', 'worn_out']);
  expect(codes.take(code, page('a'))).toEqual({ outcome: 'worn_out' });
  expect(codes.take(code, page('b'))).toEqual({ outcome: 'good' });
});

test('a right code resets the count of its page', () => {
  const { codes } = open();
  for (let times = 0; times < 4; times++) codes.take('AAAA-AAAA', page('a'));
  expect(codes.take(codes.issue().code, page('a')).outcome).toBe('good');
  expect(codes.take('AAAA-AAAA', page('a')).outcome).toBe('wrong');
});

test('a code for a client is valid for it only, and carries its invitation', () => {
  const { codes } = open();
  const { code } = codes.issue({ clientId: 'c', invited: { invitation: 'COME-IN', principal: 'ann' } });
  expect(codes.take(code, page('a', 'd'))).toEqual({ outcome: 'wrong' });
  expect(codes.take(code, page('b', 'c'))).toEqual({
    outcome: 'good',
    invited: { invitation: 'COME-IN', principal: 'ann' },
  });
});

test('forgets the oldest of 10,000 pages with wrong codes', () => {
  const { codes } = open();
  const wear = (id: string, times: number) => {
    for (let n = 0; n < times; n++) codes.take('AAAA-AAAA', page(id));
  };
  wear('first', 5);
  wear('second', 5);
  for (let n = 2; n < 10_000; n++) wear(`p${n}`, 1);
  expect(codes.take('AAAA-AAAA', page('first')).outcome).toBe('worn_out');
  wear('one more', 1);
  expect(codes.take('AAAA-AAAA', page('second')).outcome).toBe('worn_out');
  expect(codes.take('AAAA-AAAA', page('first')).outcome).toBe('wrong');
});

test('approves at most a thousand clients, and an approved one again', async () => {
  const approvals = createApprovals(createMemoryState());
  const approval = (id: string, at = 1) => ({ client_id: id, client_name: id, user_id: id, redirect_to: 'x', approved_at: at });
  for (let n = 0; n < 1_000; n++) await approvals.add(approval(`c${n}`));
  await approvals.add(approval('c7', 2));
  await expect(approvals.add(approval('more'))).rejects.toThrow('1000 clients are approved');
  expect(await approvals.find('c7')).toMatchObject({ approved_at: 2 });
  expect([await approvals.find('more'), (await approvals.list()).length]).toEqual([undefined, 1_000]);
  await approvals.remove('c7');
  expect(await approvals.find('c7')).toBeUndefined();
});

test('lists clients with an open page for ten minutes, the newest 50, each once', async () => {
  const clock = createFakeClock();
  clock.advance(tenMinutesMs);
  const waiting = createWaitingClients(clock, async (user) => (user === 'ann' ? 'Ann' : null));
  const client = (id: string, user = id) => ({ client_id: id, client_name: id, user_id: user, redirect_to: 'x' });
  const ids = async () => (await waiting.list()).map(({ client_id: id }) => id);
  for (let n = 0; n < 49; n++) waiting.add(client(`c${n}`));
  waiting.add(client('c0', 'ann'));
  waiting.add(client('last'));
  expect(await ids()).toHaveLength(50);
  waiting.add(client('more'));
  expect([(await ids()).length, (await ids()).includes('c1'), (await ids()).at(-1)]).toEqual([50, false, 'more']);
  expect(await waiting.list()).toContainEqual({ ...client('c0', 'ann'), person: 'Ann' });
  waiting.remove('more');
  expect(await ids()).not.toContain('more');
  clock.advance(tenMinutesMs - 1);
  expect(await ids()).toHaveLength(49);
  clock.advance(1);
  expect(await ids()).toEqual([]);
});
