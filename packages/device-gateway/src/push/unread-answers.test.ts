import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { createUnreadAnswers } from './unread-answers.ts';

function open({ tellsContent = false } = {}) {
  const clock = createFakeClock();
  const told: [string, object][] = [];
  const reading = new Set<string>();
  const answers = createUnreadAnswers({
    push: { send: (device, message) => void told.push([device, message]) },
    clock,
    isReading: (device) => reading.has(device),
    tellsContent,
  });
  return { clock, told, reading, answers };
}

test('notifies a device of an answer unread for five seconds, without its text', () => {
  const { clock, told, answers } = open();
  answers.ended('d_1', 'The key is under the mat.');
  clock.advance(4_999);
  expect(told).toEqual([]);
  clock.advance(1);
  expect(told).toEqual([['d_1', { type: 'answer' }]]);
});

test('does not notify a device that reads when the answer ends or soon after', () => {
  const { clock, told, reading, answers } = open();
  reading.add('d_1');
  answers.ended('d_1', 'a');
  answers.ended('d_2', 'b');
  reading.delete('d_1');
  reading.add('d_2');
  clock.advance(10_000);
  expect(told).toEqual([]);
});

test('sends the text of the last answer, and nothing for an empty one or a removed device', () => {
  const { clock, told, answers } = open({ tellsContent: true });
  answers.ended('d_1', 'first');
  clock.advance(3_000);
  answers.ended('d_1', ` ${'long '.repeat(100)}`);
  answers.ended('d_2', ' \n');
  answers.ended('d_3', 'too late');
  answers.forget('d_3');
  clock.advance(5_000);
  expect(told).toEqual([['d_1', { type: 'answer', text: 'long '.repeat(60) }]]);
});
