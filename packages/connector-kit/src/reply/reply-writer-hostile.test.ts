import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { describe, expect, test } from 'vitest';
import { begin, envelope, push, result, setUp, words } from '../../test/open-reply-writer.ts';
import { createChatGate } from './chat-gate.ts';

describe('reply writer on a faulty channel', () => {
  test('bounds an endless pause', async () => {
    const endless = () => Promise.reject(new ServiceError('busy', 'never', { details: { retry_after_s: Infinity } }));
    const { writer, clock, pass } = setUp({ post: endless });
    const timers: number[] = [];
    const { after } = clock;
    clock.after = (ms, fn) => (timers.push(ms), after(ms, fn));
    begin(writer).handlers.onDelta?.(words);
    await pass(5000);
    expect(Math.max(...timers)).toBeLessThanOrEqual(3_600_000);
  });

  test('reports an error of rendering, and other replies are not affected', async () => {
    const { writer, chat, logs, pass, within } = setUp({
      render: (text) => {
        if (text.includes('bad')) throw new TypeError('cannot read properties');
        return text;
      },
    });
    const reply = begin(writer);
    reply.handlers.onDelta?.(`bad ${words}`);
    await pass(20_000);
    expect(logs.join()).toContain('cannot read properties');
    await expect(within(reply.finish(result(`bad ${words}`)))).rejects.toThrow('cannot read properties');
    await within(writer.send({ ...push('good'), about: undefined }, AbortSignal.timeout(60_000)));
    expect(chat.shown()).toEqual(['good']);
  });

  test('posts once if the channel returns no id, and accepts a numeric id', async () => {
    for (const id of [undefined, 17] as never[]) {
      const edits: unknown[] = [];
      const posts: string[] = [];
      const { writer, pass, within } = setUp({
        post: async ({ text }) => (posts.push(text), id),
        edit: async ({ id: edited, text }) => edits.push([edited, text]),
      });
      const reply = begin(writer);
      reply.handlers.onDelta?.(words);
      await pass(100);
      await within(reply.finish(result(`${words} Whole.`)));
      if (id === undefined) expect([posts.length, edits]).toEqual([1, []]);
      else expect([posts.length, edits]).toEqual([1, [['17', `${words} Whole.`]]]);
    }
  });

  test('does not edit a message of another chat for a push with the same turn', async () => {
    const { writer, chat, pass, within } = setUp();
    const bare = { ...envelope, message_id: undefined };
    writer.openReply(bare, { turnId: 't1', again: false }).handlers.onDelta?.(words);
    await pass(100);
    const elsewhere = { id: 'd2', target: 'other', kind: 'text', text: 'For others.', about: { turn_id: 't1' } };
    await within(writer.send(elsewhere, AbortSignal.timeout(60_000)));
    expect(chat.shown()).toEqual([words, 'For others.']);
  });

  test('ignores invalid stored state', async () => {
    for (const other of [1, 'x', [], { round: 1 }, { round: 1, messages: 5, doomed: [], cuts: [] }]) {
      const { writer, chat, states, pass, within } = setUp();
      const state = states.open(() => false);
      const probe = setUp();
      await probe.within(begin(probe.writer).finish(result(words)));
      for (const key of probe.states.entries.keys()) await state.set(key, other as never);
      const reply = begin(writer);
      reply.handlers.onDelta?.(words);
      await pass(100);
      await within(reply.finish(result(`${words} Whole.`)));
      expect(chat.shown()).toEqual([`${words} Whole.`]);
    }
  });

  test('logs a failed write of the state, and shows the reply', async () => {
    const full = () => Promise.reject(new ServiceError('insufficient_storage', 'the disk is full'));
    const { writer, chat, logs, within } = setUp({
      state: { get: full, set: full, change: full, delete: full, list: full, append: full },
    });
    await within(begin(writer).finish(result(words)));
    expect(chat.shown()).toEqual([words]);
    expect(logs.join()).toContain('the disk is full');
  });

  test('rejects an invalid limit', () => {
    expect(() => setUp({ limit: 1 })).toThrow(RangeError);
    expect(() => setUp({ limit: Number.NaN })).toThrow(RangeError);
  });
});

test('a reply of a million characters yields to the event loop between messages', async () => {
  let rendered = 0;
  let most = 0;
  let isOver = false;
  const look = async () => {
    while (!isOver) {
      rendered = 0;
      await nextTurn();
      most = Math.max(most, rendered);
    }
  };
  const render = (text: string) => (rendered++, text);
  const gate = createChatGate({ clock: createFakeClock(), perMs: 0 });
  const { writer, chat } = setUp({ limit: 4000, render, gate }, { limit: 4000 });
  const looking = look();
  await begin(writer).finish(result(Array.from({ length: 60_000 }, (_, n) => `word ${n} after`).join('\n')));
  isOver = true;
  await looking;
  expect(chat.shown().length).toBeGreaterThan(200);
  expect(most).toBeLessThan(5);
});
