import { describe, expect, test } from 'vitest';
import { begin, envelope, push, result, setUp, words } from '../../test/open-reply-writer.ts';

describe('push', () => {
  test('completes the reply of a killed process, and changes nothing when it is complete', async () => {
    const { writer, chat, pass, within, open } = setUp();
    const reply = begin(writer);
    reply.handlers.onDelta?.(words);
    await pass(100);
    const { writer: next } = open();
    await within(next.send(push('Whole.'), AbortSignal.timeout(60_000)));
    await within(open().writer.send(push('Whole.'), AbortSignal.timeout(60_000)));
    expect([chat.shown(), chat.messages.length]).toEqual([['Whole.'], 1]);
  });

  test('continues with the part that was not shown', async () => {
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

test('a text after a retraction is not taken for a repeat of an uncertain post', async () => {
  const { writer, chat, pass, within } = setUp();
  const reply = writer.openReply(envelope, { turnId: 't1', again: true });
  reply.handlers.onRetract?.();
  await pass(3000);
  reply.handlers.onDelta?.(words);
  await within(reply.finish(result(words)));
  expect(chat.shown()).toEqual([words]);
});

describe('push during its own turn', () => {
  test.each([0, 30, 100, 1200])('shows one reply and both end, when the turn ends %i ms later', async (ms) => {
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

describe('channel without edits', () => {
  const steps = { edit: undefined, remove: undefined, style: 'steps' } as const;
  test('gets the text when it is complete', async () => {
    const { writer, chat, pass, within } = setUp({ edit: undefined });
    const reply = begin(writer);
    reply.handlers.onDelta?.(words);
    await pass(3000);
    expect(chat.shown()).toEqual([]);
    await within(reply.finish(result(words)));
    expect(chat.shown()).toEqual([words]);
  });

  test('gets each completed step once, also after a crash', async () => {
    const { writer, chat, pass, within, open } = setUp(steps);
    const reply = begin(writer);
    reply.handlers.onDelta?.('I look.');
    reply.handlers.onSegment?.('I look.');
    await pass(100);
    expect(chat.shown()).toEqual(['I look.']);
    reply.handlers.onSegment?.('Found.'); // as with `reply_style`, which omits deltas
    await pass(1100);
    await within(open().writer.send(push('I look.\n\nFound.\n\nThe end.'), AbortSignal.timeout(60_000)));
    expect(chat.shown()).toEqual(['I look.', 'Found.', 'The end.']);
    await within(reply.finish(result('I look.\n\nFound.\n\nThe end.')));
    expect(chat.shown()).toEqual(['I look.', 'Found.', 'The end.']);
  });
});

test('files and reactions use the hooks of the channel; without them, a file is named in the text', async () => {
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

describe('question', () => {
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

  test('is asked once as text, also after a restart, and shows its answer', async () => {
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

  test('keeps its buttons when it is shown again after a restart, until it is closed', async () => {
    const posted: string[] = [];
    const edited: string[] = [];
    const { writer, pass, open } = setUp({
      ask: async ({ text }) => `q${posted.push(text)}`,
      edit: async ({ text }) => void edited.push(text),
    });
    begin(writer).handlers.onAsk?.(ask);
    await pass(100);
    const { handlers } = begin(open().writer);
    handlers.onAsk?.(ask);
    await pass(5000);
    expect([posted, edited]).toEqual([['May I?'], []]);
    handlers.onAsked?.('ask_1', { option: 'y', outcome: 'answered' });
    await pass(5000);
    expect(edited).toEqual(['May I?\n→ Yes']);
  });

  test('waits for the replies to earlier messages', async () => {
    const { writer, chat, pass } = setUp();
    const earlier = Promise.withResolvers<void>();
    const later = { ...envelope, message_id: 'm2' };
    writer.openReply(later, { turnId: 't2', again: false, before: earlier.promise }).handlers.onAsk?.(ask);
    await pass(2000);
    expect(chat.shown()).toEqual([]);
    earlier.resolve();
    await pass(2000);
    expect(chat.shown()).toEqual(['May I?\n1. Yes\n2. No']);
  });

  test('uses the buttons of a channel that has them', async () => {
    const given: object[] = [];
    const { writer, chat, pass } = setUp({ ask: async ({ text, ask: asked }) => (given.push({ text, asked }), 'q1') });
    begin(writer).handlers.onAsk?.(ask);
    await pass(100);
    expect([given, chat.calls]).toEqual([[{ text: 'May I?', asked: ask }], []]);
  });
});

test('an observed message shows and stores nothing', async () => {
  const { writer, chat, states, within } = setUp();
  await within(begin(writer).finish(result('', { outcome: 'observed' })));
  expect([chat.calls, states.entries.size]).toEqual([[], 0]);
});
