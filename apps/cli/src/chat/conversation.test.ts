import { expect, test } from 'vitest';
import type { Outcome, TurnFrame } from '@svc/contract/turn.ts';
import { plain } from '../terminal.ts';
import type { Following, MessageContent } from './chat-session.ts';
import { createConversation } from './conversation.ts';
import type { TurnEnd } from './stream-turn.ts';
import { createPlainLines } from './turn-lines.ts';
import { createTurnView } from './turn-view.ts';

type Sent = Required<Following> & { text: string; end: (end: TurnEnd) => void; fail: (error: Error) => void };

const result = (outcome: Outcome, text = ''): TurnEnd => ({
  type: 'result',
  result: { actions: text === '' ? [] : [{ type: 'reply', text }], outcome, conversation_key: 'k', turn_id: 't' },
});
const soon = () => new Promise((resolve) => setImmediate(resolve));

function open() {
  const sent: Sent[] = [];
  const faults: unknown[] = [];
  let shown = '';
  const run = ({ text }: MessageContent, { onFrame, onAccepted }: Following) =>
    new Promise<TurnEnd>((end, fail) => void sent.push({ text, onFrame, onAccepted, end, fail } as Sent));
  const conversation = createConversation({
    session: { run: (content, following = {}) => run(content, following) },
    open(label) {
      shown += `> ${label}\n`;
      const write = (text: string) => void (shown += text);
      return createTurnView(createPlainLines({ answer: write, aside: write }, plain));
    },
    onFault: (error) => faults.push(error),
    onAway: () => undefined,
    onChange: () => undefined,
  });
  const say = (text: string) => conversation.say({ text }, text);
  const delta = (of: Sent | undefined, text: string) => of?.onFrame({ type: 'delta', text } as TurnFrame);
  return { conversation, sent, faults, say, delta, shown: () => shown };
}

test('messages are sent in order, each once the one before has been accepted', async () => {
  const { sent, say } = open();
  ['one', 'two'].forEach(say);
  await soon();
  expect(sent.map(({ text }) => text)).toEqual(['one']);
  sent[0]?.onAccepted();
  await soon();
  expect(sent.map(({ text }) => text)).toEqual(['one', 'two']);
});

test('a message typed during a turn is shown after its answer', async () => {
  const { conversation, sent, say, delta, shown } = open();
  say('one');
  await soon();
  sent[0]?.onAccepted();
  say('two');
  await soon();
  delta(sent[0], 'first');
  delta(sent[1], 'second');
  expect([shown(), conversation.waiting()]).toEqual(['> one\nfirst', ['two']]);
  sent[1]?.end(result('replied', 'second'));
  sent[0]?.end(result('replied', 'first'));
  await conversation.idle();
  expect(shown()).toBe('> one\nfirst\n> two\nsecond\n');
});

test('the answer to a command is shown at once while a turn runs', async () => {
  const { conversation, sent, say, shown } = open();
  say('one');
  await soon();
  sent[0]?.onAccepted();
  say('/status');
  await soon();
  sent[1]?.end(result('command', 'running'));
  await soon();
  expect([shown(), conversation.isBusy(), conversation.waiting()]).toEqual(['> one\n> /status\nrunning\n', true, []]);
});

test('a message that cannot be sent does not hold back the next one', async () => {
  const { conversation, sent, faults, say, shown } = open();
  conversation.say(Promise.reject(new Error('no such file')), 'one');
  say('two');
  await soon();
  await soon();
  sent[0]?.end(result('replied', 'yes'));
  await conversation.idle();
  expect([faults, shown()]).toEqual([[new Error('no such file')], '> one\n> two\nyes\n']);
});
