import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { describe, expect, test } from 'vitest';
import { createChatGate } from './chat-gate.ts';
import { createTyping, type TypingOptions } from './typing.ts';

function setUp(options: Partial<TypingOptions> = {}) {
  const clock = createFakeClock();
  const gate = createChatGate({ clock, perMs: 100 });
  const shown: number[] = [];
  const post = async () => void shown.push(clock.elapsed());
  const typing = createTyping({ clock, gate, post, everyMs: 4000, log: () => undefined, ...options });
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 100) {
      await nextTurn();
      clock.advance(100);
    }
    await nextTurn();
  };
  return { clock, gate, typing, shown, pass };
}

describe('typing indicator', () => {
  test('is shown after a second, repeated during the turn, and not after its end', async () => {
    const { typing, shown, pass } = setUp();
    const turn = typing.begin('a');
    await pass(9500);
    turn.end();
    await pass(20_000);
    expect(shown).toEqual([1000, 5000, 9000]);
  });

  test('is not shown for a turn that is answered within a second, nor right after a message', async () => {
    const { typing, shown, pass } = setUp();
    const first = typing.begin('a');
    await pass(900);
    first.end();
    const second = typing.begin('a');
    await pass(900);
    second.shown();
    await pass(3000);
    expect(shown).toEqual([]);
    await pass(2000);
    expect(shown).toEqual([5800]);
    second.end();
  });

  test('is shown once for all turns of a chat, until the last of them ends', async () => {
    const { typing, shown, pass } = setUp();
    const [first, second] = [typing.begin('a'), typing.begin('a')];
    await pass(1100);
    first.end();
    first.end();
    await pass(4000);
    second.end();
    await pass(9000);
    expect(shown).toEqual([1000, 5000]);
  });

  test('stops at its time limit if the turn does not end', async () => {
    const { typing, shown, pass } = setUp({ maxMs: 6000 });
    typing.begin('a');
    await pass(60_000);
    expect(shown).toEqual([1000, 5000]);
  });

  test('waits for a platform pause, and is not retried after a refusal', async () => {
    const { typing, gate, shown, pass } = setUp();
    await gate
      .run('a', () => Promise.reject(new ServiceError('busy', 'wait', { details: { retry_after_s: 8 } })))
      .catch(() => undefined);
    const turn = typing.begin('a');
    await pass(10_000);
    turn.end();
    expect(shown).toEqual([8000]);

    let asked = 0;
    const refusing = setUp({ post: () => (asked++, Promise.reject(new ServiceError('forbidden', 'no'))) });
    refusing.typing.begin('a');
    await refusing.pass(60_000);
    expect(asked).toBe(1);
  });
});
