import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HistoryMessage } from '@svc/contract/session.ts';
import type { ChatFrame, TurnPart } from '../protocol.ts';
import { Conversation } from './conversation.ts';

const said = { origin: 'message', sender: null, text: 'hello', attachments: [] } as const;
const frame = (turn_id: string, part: TurnPart): ChatFrame => ({ turn_id, ...part });
const begun = (message_id: string | null): TurnPart => ({
  type: 'inject',
  message_id,
  channel: 'device',
  ...said,
  sender: 'd_1',
  attachments: [],
});
const message = (over: Partial<HistoryMessage>): HistoryMessage => ({
  turn_id: 't1',
  message_id: null,
  role: 'user',
  sender: 'd_1',
  text: 'hello',
  at: 1000,
  state: 'delivered',
  outcome: 'replied',
  attachments: [],
  tools: [],
  ...over,
});
const texts = (conversation: Conversation) => conversation.keys().map((key) => conversation.turn(key)?.text);

describe('conversation', () => {
  test('keeps the key of a message from the outbox to its answer', () => {
    const conversation = new Conversation();
    conversation.say('m1', said);
    conversation.sent('m1', 't1');
    for (const part of [begun('m1'), { type: 'delta', text: 'He' }, { type: 'delta', text: 'y' }] as TurnPart[])
      conversation.apply(frame('t1', part));
    expect(conversation.turn('m1')).toMatchObject({ phase: 'writing', text: 'Hey' });
    conversation.apply(frame('t1', { type: 'done', outcome: 'replied', text: 'Hey!' }));
    conversation.merge([message({ message_id: 'm1' }), message({ role: 'assistant', text: 'Hey!' })]);
    expect(conversation.keys()).toEqual(['m1']);
    expect(conversation.turn('m1')).toMatchObject({ phase: 'done', text: 'Hey!', said: { text: 'hello' } });
  });

  test("matches a message to its turn in another channel's conversation, where it has no message id", () => {
    const conversation = new Conversation();
    conversation.say('m1', said);
    conversation.apply(frame('t1', { ...begun(null), origin: 'inject' } as TurnPart));
    conversation.sent('m1', null);
    conversation.apply(frame('t1', { type: 'done', outcome: 'replied', text: 'Hey!' }));
    conversation.apply(frame('t1', { type: 'undelivered', reason: 'the channel is away' }));
    conversation.apply(frame('t9', { type: 'undelivered', reason: 'of a turn that is not shown' }));
    conversation.merge([message({ role: 'operator' }), message({ role: 'assistant', text: 'Hey!' })]);
    expect(conversation.keys()).toEqual(['m1']);
    expect(conversation.turn('m1')).toMatchObject({
      phase: 'done',
      text: 'Hey!',
      undelivered: { reason: 'the channel is away' },
    });
  });

  test('shows undelivered answers until they are delivered, also on turns that are read later', () => {
    const conversation = new Conversation();
    const away = { reason: 'the channel is away', isWaiting: true, deliveries: ['dlv_1'] };
    conversation.setUndelivered(new Map([['t1', away]]));
    conversation.merge([message({ message_id: 'm1' }), message({ role: 'assistant', text: 'Hey!' })]);
    expect(conversation.turn('m1')).toMatchObject({ text: 'Hey!', undelivered: away });
    const over = { ...away, isWaiting: false };
    conversation.setUndelivered(new Map([['t1', over]]));
    expect(conversation.turn('m1')?.undelivered).toEqual(over);
    conversation.setUndelivered(new Map());
    expect(conversation.turn('m1')?.undelivered).toBeNull();
  });

  test('shows all texts and files of an answer once, from the stream and from the history', () => {
    const file = { path: '/uploads/plan.pdf', name: 'plan.pdf', mime: 'application/pdf' };
    const conversation = new Conversation();
    conversation.apply(frame('t1', begun('m1')));
    conversation.apply(frame('t1', { type: 'done', outcome: 'replied', text: 'One\n\nTwo', files: [file] }));
    const whole = { phase: 'done', text: 'One\n\nTwo', files: [file] };
    expect(conversation.turn('m1')).toMatchObject(whole);
    const page = [
      message({ message_id: 'm1' }),
      message({ role: 'assistant', text: 'One' }),
      message({ role: 'assistant', text: '', attachments: [file] }),
      message({ role: 'assistant', text: 'Two' }),
    ];
    for (let times = 0; times < 2; times++) {
      conversation.merge(page);
      expect(conversation.turn('m1')).toMatchObject(whole);
    }
  });

  test('[16] shows the same wherever the stream restarted the turn, and whether stream or response came first', () => {
    const parts: TurnPart[] = [
      begun('m1'),
      { type: 'queued', position: 1 },
      { type: 'thinking', text: 'so' },
      { type: 'tool', id: 'x', name: 'read', input: {} },
      { type: 'tool_result', id: 'x', ok: true, output: 'o' },
      { type: 'delta', text: 'one ' },
      { type: 'delta', text: 'two' },
      { type: 'done', outcome: 'replied', text: 'one two' },
    ];
    const end = (cut: number, acceptedAfter: number) => {
      const conversation = new Conversation({ now: () => 5 });
      conversation.say('m1', said);
      const all = [...parts.slice(0, cut), ...parts];
      for (const [index, part] of all.entries()) {
        if (index === acceptedAfter) conversation.sent('m1', 't1');
        conversation.apply(frame('t1', part));
      }
      return conversation.keys().map((key) => conversation.turn(key));
    };
    const expected = end(0, 0);
    expect(expected).toMatchObject([{ key: 'm1', phase: 'done', text: 'one two', steps: [{ id: 'x', ok: true }] }]);
    fc.assert(
      fc.property(fc.nat(parts.length), fc.nat(parts.length * 2), (cut, accepted) => {
        expect(end(cut, accepted)).toEqual(expected);
      }),
    );
  });

  test('attaches early frames of a turn to its message once the turn id is known', () => {
    const conversation = new Conversation();
    conversation.say('m1', said);
    conversation.apply(frame('t1', { type: 'delta', text: 'early' }));
    conversation.sent('m1', 't1');
    expect(conversation.keys()).toEqual(['m1']);
    expect(conversation.turn('m1')).toMatchObject({ phase: 'writing', text: 'early', said: { text: 'hello' } });
  });

  test('[23] inserts an older page before the present messages', () => {
    const conversation = new Conversation();
    conversation.merge([
      message({ turn_id: 't9', at: 9000 }),
      message({ turn_id: 't9', role: 'assistant', text: 'nine', at: 9001 }),
    ]);
    conversation.merge([
      message({ turn_id: 't3', at: 3000 }),
      message({ turn_id: 't3', role: 'assistant', text: 'three', at: 3001 }),
    ]);
    expect(texts(conversation)).toEqual(['three', 'nine']);
  });

  test("puts a new message last, even if the device's clock is behind", () => {
    const conversation = new Conversation({ now: () => 10 });
    conversation.merge([message({ at: 9000 })]);
    conversation.say('m2', said);
    expect(conversation.keys().at(-1)).toBe('m2');
  });

  test("[15] keeps later messages after those of the history, even if the device's clock is behind", () => {
    const conversation = new Conversation({ now: () => 100 });
    for (const key of ['m1', 'm2', 'm3']) conversation.say(key, said);
    conversation.sent('m1', 't1');
    conversation.merge([message({ message_id: 'm1', at: 5000 })]);
    expect(conversation.keys()).toEqual(['m1', 'm2', 'm3']);
    conversation.sent('m2', 't2');
    conversation.merge([message({ turn_id: 't0', message_id: 'm0', at: 50 })]);
    conversation.merge([1, 2].map((n) => message({ turn_id: `t${n}`, message_id: `m${n}`, at: 5000 * n })));
    expect(conversation.keys()).toEqual(['m0', 'm1', 'm2', 'm3']);
  });

  test('[26] clears retracted text, and distinguishes silent, stopped and failed turns', () => {
    const ended = (part: TurnPart) => {
      const conversation = new Conversation();
      for (const each of [begun('m1'), { type: 'delta', text: 'never mind' }, part] as TurnPart[])
        conversation.apply(frame('t1', each));
      return conversation.turn('m1');
    };
    expect(ended({ type: 'retract' })).toMatchObject({ text: '' });
    expect(ended({ type: 'done', outcome: 'silent', text: '' })).toMatchObject({ phase: 'silent', text: '' });
    expect(ended({ type: 'done', outcome: 'aborted', text: '' })).toMatchObject({ phase: 'stopped', text: 'never mind' });
    const error = { code: 'engine_failed', message: 'The engine ended.' } as never;
    expect(ended({ type: 'done', outcome: null, text: '', error })).toMatchObject({
      phase: 'failed',
      fault: 'The engine ended.',
    });
  });

  test('notifies React of streamed text at most every 50 ms, and of other changes at once', () => {
    const timers: (() => void)[] = [];
    const conversation = new Conversation({ timer: { set: (run) => timers.push(run), clear: () => timers.splice(0) } });
    let told = 0;
    conversation.subscribe(() => (told += 1));
    conversation.apply(frame('t1', begun('m1')));
    for (let index = 0; index < 100; index += 1) conversation.apply(frame('t1', { type: 'delta', text: 'x' }));
    expect([told, timers.length]).toEqual([1, 1]);
    timers[0]?.();
    expect(told).toBe(2);
  });

  test('[22] merges 10,000 messages at once', () => {
    const conversation = new Conversation();
    conversation.merge(Array.from({ length: 10_000 }, (_, index) => message({ turn_id: `t${index}`, at: index })));
    expect(conversation.keys()).toHaveLength(10_000);
  });
});
