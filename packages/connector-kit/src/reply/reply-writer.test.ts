import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { describe, expect, test } from 'vitest';
import { createSimulatedChat, createSimulatedState, passUntil } from '../../test/simulated-chat.ts';
import { createChatGate } from './chat-gate.ts';
import { createReplyWriter, type ReplyWriter, type ReplyWriterOptions } from './reply-writer.ts';

const envelope: Envelope = {
  channel: 'chat',
  conversation_key: 'chat:i1:channel:room',
  message_id: 'm1',
  sender: { raw_id: 'ann' },
  content: { text: 'hello' },
  channel_context: { chatId: 'room' },
};
const result = (text: string, fields: Partial<HandleResult> = {}): HandleResult => ({
  actions: text === '' ? [] : [{ type: 'reply', text }],
  outcome: text === '' ? 'silent' : 'replied',
  conversation_key: envelope.conversation_key,
  turn_id: 't1',
  ...fields,
});
const push = (text: string) => ({ id: 'd1', target: 'room', kind: 'text', text, about: { turn_id: 't1', message_id: 'm1' } });
const begin = (writer: ReplyWriter) => writer.openReply(envelope, { turnId: 't1', again: false });
const words = 'A reply that is long enough to be shown.';

function setUp(options: Partial<ReplyWriterOptions> = {}, rules: Parameters<typeof createSimulatedChat>[1] = {}) {
  const clock = createFakeClock();
  const chat = createSimulatedChat(clock, rules);
  const states = createSimulatedState();
  const logs: string[] = [];
  const log = (level: string, message: string, fields?: object) =>
    void logs.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`);
  const open = () => {
    let isKilled = false;
    const gate = createChatGate({ clock, perMs: 1000 });
    const { find: _find, ...able } = chat.platform;
    const state = states.open(() => isKilled);
    const writer = createReplyWriter({ ...able, limit: 2000, clock, gate, state, log, unsure: 'nonce', ...options });
    return { writer, kill: () => void (isKilled = true) };
  };
  const { writer } = open();
  const until = (isSo: () => boolean, ms?: number) => passUntil(clock, isSo, ms);
  const pass = (ms: number) => {
    const at = clock.elapsed() + ms;
    return passUntil(clock, () => clock.elapsed() >= at, ms);
  };
  /** Waits for something that takes its time by the clock. */
  const within = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    work.then(
      () => (isOver = true),
      () => (isOver = true),
    );
    await until(() => isOver);
    return work;
  };
  return { clock, chat, states, logs, writer, open, until, pass, within };
}

describe('a reply that is shown as it grows', () => {
  test('begins with 30 characters, is edited in place, and ends with the whole text', async () => {
    const { writer, chat, pass, within } = setUp();
    const reply = begin(writer);
    reply.handlers.onDelta?.('Hi');
    await pass(500);
    expect(chat.shown()).toEqual([]);
    reply.handlers.onDelta?.(', this is more than thirty characters.');
    await pass(50);
    expect(chat.shown()).toEqual(['Hi, this is more than thirty characters.']);
    reply.handlers.onDelta?.(' And');
    reply.handlers.onDelta?.(' more.');
    await pass(1000);
    await within(reply.finish(result('Hi, this is more than thirty characters. And more.')));
    expect(chat.shown()).toEqual(['Hi, this is more than thirty characters. And more.']);
    expect(chat.calls).toEqual(['post', 'edit']);
  });

  test('begins a second after its first word, however few there are', async () => {
    const { writer, chat, pass } = setUp();
    begin(writer).handlers.onDelta?.('Hm');
    await pass(950);
    expect(chat.shown()).toEqual([]);
    await pass(100);
    expect(chat.shown()).toEqual(['Hm']);
  });

  test('goes over into a next message where one is full, with its code block whole in both', async () => {
    const { writer, chat, pass, within } = setUp({ limit: 60 }, { limit: 60 });
    const text = `Look:\n\`\`\`ts\n${'const a = 1;\n'.repeat(8)}\`\`\`\nDone.`;
    const reply = begin(writer);
    for (const part of text.match(/[\s\S]{1,9}/g) ?? []) {
      reply.handlers.onDelta?.(part);
      await pass(400);
    }
    await within(reply.finish(result(text)));
    expect(chat.faults).toEqual([]);
    expect(chat.shown().length).toBeGreaterThan(2);
    for (const message of chat.shown()) expect((message.match(/```/g) ?? []).length % 2).toBe(0);
    expect(
      chat
        .shown()
        .join('\n')
        .match(/const a = 1;/g),
    ).toHaveLength(8);
  });

  test('is taken away when the turn has nothing to say after all', async () => {
    const { writer, chat, pass, within } = setUp();
    const reply = begin(writer);
    reply.handlers.onDelta?.(words);
    await pass(100);
    reply.handlers.onRetract?.();
    await within(reply.finish(result('')));
    expect(chat.shown()).toEqual([]);
  });

  test('is taken back soon when nothing follows, and written over when something does', async () => {
    const { writer, chat, pass } = setUp();
    const { handlers } = begin(writer);
    handlers.onDelta?.(words);
    await pass(100);
    handlers.onRetract?.();
    handlers.onDelta?.('Something else that is long enough.');
    await pass(1100);
    expect([chat.shown(), chat.calls]).toEqual([['Something else that is long enough.'], ['post', 'edit']]);
    handlers.onRetract?.();
    await pass(3000);
    expect(chat.shown()).toEqual([]);
  });

  test('is posted again when somebody removed it, or ends without a word where the channel says so', async () => {
    for (const whenGone of ['post', 'end'] as const) {
      const { writer, chat, pass, within } = setUp({ whenGone });
      const reply = begin(writer);
      reply.handlers.onDelta?.(words);
      await pass(100);
      for (const message of chat.messages) message.isGone = true;
      await within(reply.finish(result(`${words} Whole.`)));
      expect(chat.shown()).toEqual(whenGone === 'post' ? [`${words} Whole.`] : []);
    }
  });

  test('says below what is shown that the turn failed, and an answer that comes later takes its place', async () => {
    const { writer, chat, pass, within } = setUp();
    const reply = begin(writer);
    reply.handlers.onDelta?.(words);
    await pass(100);
    await within(reply.fail(new ServiceError('engine_stalled', 'The engine went silent.')));
    expect(chat.shown()).toEqual([`${words}\n\n⚠️ The engine went silent.`]);
    await within(writer.send(push('The answer.'), AbortSignal.timeout(60_000)));
    expect(chat.shown()).toEqual(['The answer.']);
  });
});

describe('a platform that wants a pause', () => {
  test('gets no write until it is over, and then the whole text', async () => {
    const { writer, chat, pass, within } = setUp({}, { penaltyS: 30 });
    const reply = begin(writer);
    reply.handlers.onDelta?.(words);
    await pass(100);
    chat.luck.push('busy');
    reply.handlers.onDelta?.(' More.');
    await pass(1500);
    await within(reply.finish(result(`${words} More. Whole.`)));
    expect([chat.shown(), chat.faults]).toEqual([[`${words} More. Whole.`], []]);
  });

  test('for longer than a minute has the reply handed back, and gets it by a push', async () => {
    const { writer, chat, pass, within } = setUp({}, { penaltyS: 137 });
    const reply = begin(writer);
    reply.handlers.onDelta?.(words);
    await pass(100);
    chat.luck.push('busy');
    await expect(within(reply.finish(result('Whole.')))).rejects.toMatchObject({ code: 'busy' });
    await pass(137_000);
    await within(writer.send(push('Whole.'), AbortSignal.timeout(60_000)));
    expect([chat.shown(), chat.faults]).toEqual([['Whole.'], []]);
  });
});

describe('a push', () => {
  test('finishes what a killed process began, and is nothing new for a reply that is whole', async () => {
    const { writer, chat, pass, within, open } = setUp();
    const reply = begin(writer);
    reply.handlers.onDelta?.(words);
    await pass(100);
    const { writer: next } = open();
    await within(next.send(push('Whole.'), AbortSignal.timeout(60_000)));
    await within(open().writer.send(push('Whole.'), AbortSignal.timeout(60_000)));
    expect([chat.shown(), chat.messages.length]).toEqual([['Whole.'], 1]);
  });

  test('goes on with the part that was not taken', async () => {
    const { writer, chat, pass, within, open } = setUp({ limit: 20 }, { limit: 20, knowsNonces: false });
    const text = 'one one one one\n\ntwo two two two\n\nthree three three';
    const giveUp = new AbortController();
    const sending = writer.send(push(text), giveUp.signal).catch((error: unknown) => error);
    await pass(1100);
    giveUp.abort(new Error('enough'));
    expect(await within(sending)).toMatchObject({ message: 'enough' });
    expect(chat.shown().length).toBeLessThan(3);
    await within(open().writer.send(push(text), AbortSignal.timeout(60_000)));
    expect(chat.shown()).toEqual(['one one one one', 'two two two two', 'three three three']);
  });
});

test('what comes after a text was taken back is no repeat of a post that may have been there', async () => {
  const { writer, chat, pass, within } = setUp();
  const reply = writer.openReply(envelope, { turnId: 't1', again: true });
  reply.handlers.onRetract?.();
  await pass(3000);
  reply.handlers.onDelta?.(words);
  await within(reply.finish(result(words)));
  expect(chat.shown()).toEqual([words]);
});

describe('a push and its own turn at once', () => {
  test.each([0, 30, 100, 1200])('show one reply, and both come to an end: the turn ends %i ms later', async (ms) => {
    const { writer, chat, pass, within } = setUp();
    const reply = begin(writer);
    reply.handlers.onDelta?.(words);
    await pass(100);
    chat.tookMs.push(200);
    const sent = writer.send(push(`${words} Whole.`), AbortSignal.timeout(60_000));
    if (ms > 0) await pass(ms);
    const finished = reply.finish(result(`${words} Whole.`));
    await within(Promise.all([sent, finished]).then(() => undefined));
    expect([chat.shown(), chat.messages.length]).toEqual([[`${words} Whole.`], 1]);
  });
});

describe('a channel without edits', () => {
  const steps = { edit: undefined, remove: undefined, style: 'steps' } as const;
  test('gets the whole text once it is there', async () => {
    const { writer, chat, pass, within } = setUp({ edit: undefined });
    const reply = begin(writer);
    reply.handlers.onDelta?.(words);
    await pass(3000);
    expect(chat.shown()).toEqual([]);
    await within(reply.finish(result(words)));
    expect(chat.shown()).toEqual([words]);
  });

  test('gets each step when it is done, none of them twice, also after a crash', async () => {
    const { writer, chat, pass, within, open } = setUp(steps);
    const reply = begin(writer);
    reply.handlers.onDelta?.('I look.');
    reply.handlers.onSegment?.('I look.');
    await pass(100);
    expect(chat.shown()).toEqual(['I look.']);
    reply.handlers.onSegment?.('Found.'); // as with `reply_style`, which leaves out deltas
    await pass(1100);
    await within(open().writer.send(push('I look.\n\nFound.\n\nThe end.'), AbortSignal.timeout(60_000)));
    expect(chat.shown()).toEqual(['I look.', 'Found.', 'The end.']);
    await within(reply.finish(result('I look.\n\nFound.\n\nThe end.')));
    expect(chat.shown()).toEqual(['I look.', 'Found.', 'The end.']);
  });
});

test('a file and a reaction go by the hooks of the channel, and are words where it has none', async () => {
  const actions = [
    { type: 'reply', text: 'Here.' },
    { type: 'file', path: '/up/a.png', name: 'a.png', mime: 'image/png' },
    { type: 'react', emoji: '👍' },
  ] as never;
  const given: object[] = [];
  const file = async ({ signal: _signal, nonce: _nonce, ...rest }: object & { signal: unknown; nonce: unknown }) =>
    given.push(rest);
  const hooks = { file, react: file } as never;
  const able = setUp(hooks);
  await able.within(begin(able.writer).finish(result('', { actions, outcome: 'replied' })));
  expect(able.chat.shown()).toEqual(['Here.']);
  expect(given).toEqual([
    { chat: 'room', path: '/up/a.png', name: 'a.png', mime: 'image/png', answers: 'm1' },
    { chat: 'room', to: 'm1', emoji: '👍' },
  ]);
  const unable = setUp();
  await unable.within(begin(unable.writer).finish(result('', { actions, outcome: 'replied' })));
  expect(unable.chat.shown()).toEqual(['Here.\n\n📎 a.png']);
});

describe('a question', () => {
  const ask = {
    id: 'ask_1',
    text: 'May I?',
    options: [
      { id: 'y', label: 'Yes' },
      { id: 'n', label: 'No' },
    ],
    for: 'prn_1',
    expires_at: 0,
  };

  test('is asked in words, once also by the next process, and says in the end what came of it', async () => {
    const { writer, chat, pass, open } = setUp();
    begin(writer).handlers.onAsk?.(ask);
    await pass(100);
    const { handlers } = begin(open().writer);
    handlers.onAsk?.(ask);
    await pass(2000);
    expect(chat.shown()).toEqual(['May I?\n1. Yes\n2. No']);
    handlers.onAsked?.('ask_1', { option: 'y', outcome: 'answered' });
    await pass(2000);
    expect(chat.shown()).toEqual(['May I?\n→ Yes']);
  });

  test('has buttons where the channel has them', async () => {
    const given: object[] = [];
    const { writer, chat, pass } = setUp({ ask: async ({ text, ask: asked }) => (given.push({ text, asked }), 'q1') });
    begin(writer).handlers.onAsk?.(ask);
    await pass(100);
    expect([given, chat.calls]).toEqual([[{ text: 'May I?', asked: ask }], []]);
  });
});

test('what is only observed leaves nothing behind', async () => {
  const { writer, chat, states, within } = setUp();
  await within(begin(writer).finish(result('', { outcome: 'observed' })));
  expect([chat.calls, states.entries.size]).toEqual([[], 0]);
});

describe('a channel that does not do as it should', () => {
  test('is not asked again and again when it names a pause without an end', async () => {
    const endless = () => Promise.reject(new ServiceError('busy', 'never', { details: { retry_after_s: Infinity } }));
    const { writer, clock, pass } = setUp({ post: endless });
    const timers: number[] = [];
    const { after } = clock;
    clock.after = (ms, fn) => (timers.push(ms), after(ms, fn));
    begin(writer).handlers.onDelta?.(words);
    await pass(5000);
    expect(Math.max(...timers)).toBeLessThanOrEqual(3_600_000);
  });

  test('whose rendering throws shows nothing, says so, and harms nobody else', async () => {
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

  test('gets a message once although it gives no id for it, and one with a number for an id is found again', async () => {
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

  test('is not made to edit in another chat what a push for it names', async () => {
    const { writer, chat, pass, within } = setUp();
    const bare = { ...envelope, message_id: undefined };
    writer.openReply(bare, { turnId: 't1', again: false }).handlers.onDelta?.(words);
    await pass(100);
    const elsewhere = { id: 'd2', target: 'other', kind: 'text', text: 'For others.', about: { turn_id: 't1' } };
    await within(writer.send(elsewhere, AbortSignal.timeout(60_000)));
    expect(chat.shown()).toEqual([words, 'For others.']);
  });

  test('whose memory holds something else shows its replies all the same', async () => {
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

  test('whose memory cannot be written says so, and shows its replies', async () => {
    const full = () => Promise.reject(new ServiceError('insufficient_storage', 'the disk is full'));
    const { writer, chat, logs, within } = setUp({
      state: { get: full, set: full, change: full, delete: full, list: full, append: full },
    });
    await within(begin(writer).finish(result(words)));
    expect(chat.shown()).toEqual([words]);
    expect(logs.join()).toContain('the disk is full');
  });

  test('with a limit that is none is not begun', () => {
    expect(() => setUp({ limit: 1 })).toThrow(RangeError);
    expect(() => setUp({ limit: Number.NaN })).toThrow(RangeError);
  });
});

test('a reply of a million characters lets others run between its messages', async () => {
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
