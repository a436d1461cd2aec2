import { expect, test } from 'vitest';
import type { TurnProgress } from '@svc/contract/turn.ts';
import { createRedactor } from '@svc/service-kit/redaction/redactor.ts';
import { createReplyStream } from './reply-stream.ts';

const secret = 'sk-live-0123456789abcdef';
const redactor = createRedactor([secret]);

function open() {
  const shown: TurnProgress[] = [];
  const reply = createReplyStream(
    () => redactor,
    (progress) => void shown.push(progress),
  );
  return { shown, reply, deltas: () => shown.flatMap((each) => (each.type === 'delta' ? [each.text] : [])).join('') };
}

const long = `${'word "key=" 日本 '.repeat(40_000)}${secret}${' and more of it'.repeat(10_000)}`;

test('a long block that comes at once is masked in slices, and the rest of the process has its turn', async () => {
  const { reply, deltas, shown } = open();
  let turns = 0;
  let isDone = false;
  const count = () => (isDone ? undefined : void (turns++, setImmediate(count)));
  setImmediate(count);
  await reply.longSegment(long);
  isDone = true;
  await reply.finish();
  expect(turns).toBeGreaterThan(3);
  expect(reply.text()).toBe(redactor.text(long));
  expect(deltas()).toBe(reply.text());
  expect(shown.filter(({ type }) => type === 'segment')).toEqual([{ type: 'segment', text: reply.text() }]);
});

test('a turn that ends while a long block is being masked has all of it, once', async () => {
  const { reply, deltas } = open();
  const pushed = reply.longSegment(long);
  await reply.finish();
  await pushed;
  expect(deltas()).toBe(redactor.text(long));
});

test('a short block leaves at once', () => {
  const { reply } = open();
  expect(reply.longSegment(`the key is ${secret}.`)).toBeUndefined();
  expect(reply.text()).toBe('the key is [redacted:secret].');
});
