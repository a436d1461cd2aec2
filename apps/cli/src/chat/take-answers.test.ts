import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { TurnFrame } from '@svc/contract/turn.ts';
import { takeAnswers, type AnswerHandlers } from './take-answers.ts';

const ask = (id: string): TurnFrame => ({
  type: 'ask',
  ask: { id, text: 'Which?', options: [{ id: 'yes', label: 'Yes' }], for: 'p', expires_at: 0 },
});
const asked = (id: string): TurnFrame => ({ type: 'asked', id, answer: { option: 'yes', outcome: 'answered' } });
/** Waits until earlier input has been read. */
const read = async () => {
  for (let turns = 0; turns < 3; turns++) await turn();
};

function setUp(answer = async (id: string, text: string) => `${id}: ${text}`) {
  const notes: string[] = [];
  const readers: (AnswerHandlers & { isStopped: boolean })[] = [];
  let interrupts = 0;
  const answers = takeAnswers({
    session: { answer, conversationKey: 'shell:anna:default', leave: () => undefined },
    note: (text) => notes.push(text),
    onInterrupt: () => interrupts++,
    read: (handlers) => {
      const reader = { ...handlers, isStopped: false };
      readers.push(reader);
      return () => void (reader.isStopped = true);
    },
  });
  return { ...answers, notes, readers, interrupts: () => interrupts };
}

test('the terminal is read only while a question is open', async () => {
  const { follow, close, readers } = setUp();
  follow({ type: 'delta', text: 'hi' });
  expect(readers).toHaveLength(0);
  follow(ask('a'));
  follow(asked('other'));
  expect(readers[0]).toMatchObject({ isStopped: false });
  follow(asked('a'));
  expect(readers[0]).toMatchObject({ isStopped: true });
  follow(ask('b'));
  follow({ type: 'retract' });
  follow(ask('c'));
  close();
  expect(readers.map(({ isStopped }) => isStopped)).toEqual([true, true, true]);
});

test('input answers the question that is open at that time', async () => {
  const { follow, readers, notes } = setUp();
  follow(ask('a'));
  await read();
  readers[0]?.onAnswer('  ');
  readers[0]?.onAnswer(' yes ');
  follow(asked('a'));
  follow(ask('b'));
  await read();
  readers[1]?.onAnswer('x'.repeat(300));
  await read();
  expect(notes).toEqual(['a: yes', `b: ${'x'.repeat(200)}`]);
});

test('input typed before the question was shown is ignored', async () => {
  const { follow, readers, notes } = setUp();
  follow(ask('a'));
  readers[0]?.onAnswer('yes');
  await read();
  expect(notes).toEqual([]);
});

test('reports an answer that could not be sent, passes on Ctrl-C, and stops reading on Ctrl-D', async () => {
  const { follow, readers, notes, interrupts } = setUp(() => Promise.reject(new Error('connect ECONNREFUSED')));
  follow(ask('a'));
  await read();
  readers[0]?.onAnswer('yes');
  readers[0]?.onInterrupt();
  await read();
  readers[0]?.onEnd();
  expect([notes, interrupts(), readers[0]?.isStopped]).toEqual([
    ['Not answered: connect ECONNREFUSED.', 'The question stays open. Answer by number: ./svc chat 1'],
    1,
    true,
  ]);
});
