import { describe, expect, test } from 'vitest';
import type { Delivery } from '@svc/contract/delivery.ts';
import { plain } from '../terminal.ts';
import { renderChanged, renderDeliveries } from './render-deliveries.ts';

const now = 1_800_000_000_000;
const failed: Delivery = {
  id: 'dlv_1',
  turn_id: 'turn_1',
  conversation_key: 'messenger:m1:user:1',
  instance_id: 'm1',
  target: '12345',
  text: 'Good morning.\n\nYour train leaves at ten.',
  injected: false,
  state: 'failed',
  attempts: 1,
  next_at: null,
  error: 'the manager answered 404: There is no instance "m1".',
  created_at: now - 180_000,
  updated_at: now - 180_000,
};
const pending: Delivery = { ...failed, id: 'dlv_2', state: 'pending', attempts: 3, next_at: now + 8000, error: 'no answer' };
const homeless: Delivery = { ...failed, id: 'dlv_3', instance_id: null, target: null, attempts: 0, error: null };

const render = (deliveries: Delivery[], isWhole = true) => renderDeliveries({ deliveries, isWhole }, now, plain);

describe('list of deliveries', () => {
  test('shows time, conversation, target, state, attempts, error and text', () => {
    expect(render([failed, pending, homeless])).toMatchInlineSnapshot(`
      "Replies that did not arrive, the newest first:

        dlv_1   failed, 1 attempt, made 3 min ago
            messenger:m1:user:1, to 12345 over m1
            the manager answered 404: There is no instance "m1".
            "Good morning. Your train leaves at ten."

        dlv_2   pending, 3 attempts, next in 8 s, made 3 min ago
            messenger:m1:user:1, to 12345 over m1
            no answer
            "Good morning. Your train leaves at ten."

        dlv_3   failed, made 3 min ago
            messenger:m1:user:1, with no place to go
            "Good morning. Your train leaves at ten."

        ./svc delivery retry ID     tries it now; "retry all" every one that has a place to go
        ./svc delivery dismiss ID   takes a failed one off this list; "dismiss all" all of them"
    `);
  });

  test('reports that there are none', () => {
    expect(render([])).toContain('There are none');
  });

  test('does not mention retries when everything was delivered', () => {
    expect(render([{ ...failed, state: 'delivered' }])).not.toContain('retry');
  });

  test('reports that there are older ones', () => {
    expect(render([failed], false)).toContain('./svc delivery --json shows all');
  });

  test('truncates and escapes text of others on one line', () => {
    const text = `a\u001B[2J\u202Eb\n\n${'x'.repeat(5000)}`;
    const lines = render([{ ...failed, text, error: 'bad\nnews', conversation_key: `k${'y'.repeat(500)}\r` }]).split('\n');
    expect(lines).toHaveLength(9);
    expect(lines.filter((line) => line.length > 300)).toEqual([]);
    expect(lines[4]).toBe('      bad?news');
    expect(lines[5]).toBe(`      "a\\x1b[2Jb ${'x'.repeat(93)}…"`);
  });
});

describe('changed deliveries', () => {
  const nothing = { ok: true, done: [], refused: [], skipped: [] };

  test.each([
    [{ done: ['dlv_1'] }, '1 reply is tried again now. ./svc delivery shows the result.'],
    [{ done: ['dlv_1', 'dlv_2'] }, '2 replies are tried again now. ./svc delivery shows the result.'],
    [{}, 'There is nothing to retry.'],
    [{ skipped: ['dlv_3'] }, '1 has no place to go and can only be dismissed: ./svc delivery shows why.'],
    [{ ok: false, refused: [{ id: 'dlv_9', message: 'There is none.' }] }, 'Not dlv_9: There is none.'],
  ])('for %j are shown as %j', (some, words) => {
    expect(renderChanged('retry', { ...nothing, ...some }, plain)).toBe(words);
  });

  test('are reported when dismissed', () => {
    expect(renderChanged('dismiss', { ...nothing, done: ['dlv_1'] }, plain)).toBe('1 reply is off the list.');
  });
});
