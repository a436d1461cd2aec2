import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HandleResult, Outcome } from '@svc/contract/turn.ts';
import { ReplyRelay } from './reply-relay.ts';

const result = (text: string, outcome: Outcome = 'replied'): HandleResult => ({
  actions: text === '' ? [] : [{ type: 'reply', text }],
  outcome,
  conversation_key: 'k',
  turn_id: 't',
});

/** What a reader has received. A text is a delta, null is a retraction. */
function read(steps: (string | null)[]) {
  let text = '';
  const relay = new ReplyRelay((more) => (text += more));
  for (const step of steps) {
    if (step === null) relay.onRetract();
    else relay.onDelta(step);
  }
  return { relay, text: () => text };
}

describe('reply relay', () => {
  test('skips what was already sent when a reply starts over', () => {
    const { relay, text } = read(['one ', 'two ', null, 'one ']);
    expect(text()).toBe('one two ');
    relay.onDelta('two three ');
    expect(text()).toBe('one two three ');
    relay.onDelta('four');
    relay.finish(result('one two three four'), 'm1');
    expect(text()).toBe('one two three four');
  });

  test('completes a reply that starts over in one piece', () => {
    const { relay, text } = read(['one ', null]);
    relay.finish(result('one two'), 'm1');
    expect(text()).toBe('one two');
  });

  test('fails when a reply starts over with other text, and says how to get it', () => {
    const { relay, text } = read(['one ', null, 'uno ', 'due ']);
    expect(text()).toBe('one ');
    expect(() => relay.finish(result('uno due'), 'order-7')).toThrow(/with the Idempotency-Key "order-7"/);
    expect(text()).toBe('one ');
  });

  test('fails when the reply is shorter than what was sent', () => {
    const { relay } = read(['one two', null, 'one']);
    expect(() => relay.finish(result('one'), 'm1')).toThrow();
  });

  test('fails when the reply was delivered elsewhere', () => {
    expect(() => read(['one', null]).relay.finish(result('', 'delivered'), 'm1')).toThrow();
  });

  test.each(['silent', 'aborted'] as const)('keeps what was sent when a retracted turn ends %s', (outcome) => {
    const { relay, text } = read(['one', null]);
    relay.finish(result('', outcome), 'm1');
    expect(text()).toBe('one');
  });

  test('allows a retraction before anything was sent', () => {
    const { relay, text } = read([null, 'uno']);
    relay.finish(result('uno'), 'm1');
    expect(text()).toBe('uno');
  });

  test('keeps what was sent when the final text differs', () => {
    const { relay, text } = read(['my key is abc']);
    relay.finish(result('my key is [redacted]'), 'm1');
    expect(text()).toBe('my key is abc');
  });

  test('a reply arrives completely and once, or is reported as interrupted, however often it starts over', () => {
    const run = fc.record({ text: fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 }), cut: fc.nat(12) });
    fc.assert(
      fc.property(fc.array(run, { minLength: 1, maxLength: 5 }), (runs) => {
        const { relay, text } = read(
          runs.flatMap((one, i) => {
            const isLast = i === runs.length - 1;
            return isLast ? one.text.split('') : [...one.text.slice(0, one.cut).split(''), null];
          }),
        );
        const reply = runs.at(-1)?.text ?? '';
        const before = text();
        try {
          relay.finish(result(reply), 'm1');
          expect(text()).toBe(reply);
        } catch (error) {
          expect((error as { code?: string }).code).toBe('turn_interrupted');
          expect(reply.startsWith(before)).toBe(false);
        }
      }),
    );
  });
});
