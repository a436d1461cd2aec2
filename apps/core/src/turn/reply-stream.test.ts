import { expect, test } from 'vitest';
import type { TurnProgress } from '@svc/contract/turn.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createRedactor, type Redactor } from '@svc/service-kit/redaction/redactor.ts';
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

test('a long segment is masked in slices that yield to the event loop', async () => {
  const { reply, deltas, shown } = open();
  let turns = 0;
  let isDone = false;
  const count = () => (isDone ? undefined : void (turns++, setImmediate(count)));
  setImmediate(count);
  await reply.segment(long);
  isDone = true;
  await reply.finish();
  expect(turns).toBeGreaterThan(3);
  expect(reply.text()).toBe(redactor.text(long));
  expect(deltas()).toBe(reply.text());
  expect(shown.filter(({ type }) => type === 'segment')).toEqual([{ type: 'segment', text: reply.text() }]);
});

test('finish() waits for a long segment that is still being masked, and sends it once', async () => {
  const { reply, deltas } = open();
  const pushed = reply.segment(long);
  await reply.finish();
  await pushed;
  expect(deltas()).toBe(redactor.text(long));
});

test('a short segment is masked synchronously', () => {
  const { reply } = open();
  expect(reply.segment(`the key is ${secret}.`)).toBeUndefined();
  expect(reply.text()).toBe('the key is [redacted:secret].');
});

/** A redactor that offloads streams after so many characters; each piece then takes a turn of the event loop. */
function movingAt(length: number, ...secrets: string[]): Redactor {
  const here = createRedactor(secrets);
  const later = async (out: () => string): Promise<string> => {
    await nextTurn();
    return out();
  };
  return {
    ...here,
    offloadStream(pushed) {
      if (pushed < length) return null;
      const stream = here.stream();
      return { push: (text) => later(() => stream.push(text)), end: () => later(stream.end) };
    },
  };
}

const blocks = [`the key is ${secret}, `.repeat(40), `and ${secret.slice(0, 9)}`, `${secret.slice(9)} too. `.repeat(3)];
const piecesOf = (text: string, size: number): string[] => text.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? [];
/** The text of a reader that honours retractions. */
const readBy = (shown: readonly TurnProgress[]): string =>
  shown.reduce((text, each) => (each.type === 'retract' ? '' : each.type === 'delta' ? text + each.text : text), '');

test.each([1, 7, 100])('moving a reply to the worker thread does not change its text or order, in pieces of %i', async (size) => {
  const texts = await Promise.all(
    [0, 50, 300, Number.POSITIVE_INFINITY].map(async (moveAt) => {
      const shown: TurnProgress[] = [];
      const moving = movingAt(moveAt, secret);
      const reply = createReplyStream(
        () => moving,
        (progress) => void shown.push(progress),
      );
      for (const block of blocks) {
        for (const piece of piecesOf(block, size)) {
          await reply.delta(piece);
          await nextTurn();
        }
        await reply.segment('');
      }
      await reply.finish();
      expect(readBy(shown)).toBe(reply.text());
      expect(JSON.stringify(shown)).not.toContain(secret.slice(0, 12));
      return { text: reply.text(), segments: shown.filter(({ type }) => type === 'segment') };
    }),
  );
  for (const each of texts) expect(each).toEqual(texts[0]);
});

test('deltas that are not awaited keep their order', async () => {
  const shown: TurnProgress[] = [];
  const moving = movingAt(0, secret);
  const reply = createReplyStream(
    () => moving,
    (progress) => void shown.push(progress),
  );
  for (const block of blocks) {
    for (const piece of piecesOf(block, 30)) void reply.delta(piece);
    void reply.segment('');
  }
  await reply.finish();
  expect(reply.text().replaceAll('\n', '')).toBe(redactor.text(blocks.join('')));
  expect(readBy(shown)).toBe(reply.text());
});

test('a secret learned while the worker thread masks the reply is retracted', async () => {
  const shown: TurnProgress[] = [];
  let current = movingAt(100);
  const reply = createReplyStream(
    () => current,
    (progress) => void shown.push(progress),
  );
  const text = `${'words before it, '.repeat(20)}sk_not_known_yet_4711, ${'words behind it, '.repeat(20)}`;
  for (const [at, piece] of piecesOf(text, 10).entries()) {
    await reply.delta(piece);
    if (at === 50) current = movingAt(100, 'sk_not_known_yet_4711');
    await nextTurn();
  }
  await reply.finish();
  expect(reply.text()).toBe(text.replace('sk_not_known_yet_4711', '[redacted:secret]'));
  expect(readBy(shown)).toBe(reply.text());
  expect(shown).toContainEqual({ type: 'retract' });
});

test('nothing more is sent once the list of secrets cannot be read', async () => {
  const shown: TurnProgress[] = [];
  let isReadable = true;
  const moving = movingAt(0, secret);
  const reply = createReplyStream(
    () => {
      if (!isReadable) throw new Error('known secrets cannot be read');
      return moving;
    },
    (progress) => void shown.push(progress),
  );
  await reply.delta('hello ');
  await reply.flush();
  isReadable = false;
  void reply.delta('there ');
  await expect((async () => await reply.segment(''))()).rejects.toThrow('known secrets cannot be read');
  await expect(reply.finish()).rejects.toThrow('known secrets cannot be read');
  expect(readBy(shown)).toBe('hello ');
});
