import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TurnProgress } from '@svc/contract/turn.ts';
import { createRedactor } from '@svc/service-kit/redaction/redactor.ts';
import { createMaskedReply } from './masked-reply.ts';

const secret = 'Cnry7Var2kQzLwXp';
const mask = '[redacted:secret]';

function open(...secrets: string[]) {
  let redactor = createRedactor(secrets);
  const frames: TurnProgress[] = [];
  const reply = createMaskedReply(
    () => redactor,
    (frame) => frames.push(frame),
  );
  return {
    reply,
    frames,
    learn: (...values: string[]) => (redactor = createRedactor([...secrets, ...values])),
    /** The text of a reader that honours retractions. */
    shown: () =>
      frames.reduce((text, frame) => (frame.type === 'retract' ? '' : frame.type === 'delta' ? text + frame.text : text), ''),
    segments: () => frames.flatMap((frame) => (frame.type === 'segment' ? [frame.text] : [])),
    async say(...blocks: string[][]) {
      for (const pieces of blocks) {
        for (const piece of pieces) void reply.push(piece);
        void reply.endBlock();
      }
      await reply.end();
      return reply.text();
    },
  };
}

test('a secret split over two blocks is masked and never shown in part', async () => {
  const { say, frames, segments } = open(secret);
  expect(await say(['one ', secret.slice(0, 9)], [`${secret.slice(9)} two`])).toBe(`one \n\n${mask} two`);
  expect(JSON.stringify(frames)).not.toContain(secret.slice(0, 4));
  expect(segments()[0]).toBe('one ');
});

test('a secret split over many blocks is masked', async () => {
  const { say, frames } = open(secret);
  const text = await say(['x'], ...Array.from({ length: 4 }, (_, i) => [secret.slice(i * 4, i * 4 + 4)]), ['y']);
  expect(text.replaceAll('\n', '')).not.toContain(secret);
  expect(
    frames
      .map((frame) => ('text' in frame ? frame.text : ''))
      .join('')
      .replaceAll('\n', ''),
  ).not.toContain(secret);
});

test('the end of a block that is no secret after all is shown before the next block', async () => {
  const { say, segments, frames } = open(secret);
  const [half] = [secret.slice(0, 9)];
  expect(await say([`one ${half}`], ['two'])).toBe(`one ${half}\n\ntwo`);
  expect(segments()).toEqual([`one ${half}`, 'two']);
  expect(frames).not.toContainEqual({ type: 'retract' });
});

test('a block whose end barely resembles a secret is shown at once', async () => {
  const { reply, frames } = open(secret);
  void reply.push('a Cnr');
  void reply.endBlock();
  expect(frames).toEqual([
    { type: 'delta', text: 'a ' },
    { type: 'delta', text: 'Cnr' },
    { type: 'segment', text: 'a Cnr' },
  ]);
});

test('a secret learned while the reply streams is masked from then on, and text already shown is retracted', async () => {
  const { reply, learn, shown, frames } = open();
  void reply.push(`it is ${secret} and `);
  expect(shown()).toContain(secret);
  learn(secret);
  void reply.push('so on');
  void reply.endBlock();
  await reply.end();
  expect(reply.text()).toBe(`it is ${mask} and so on`);
  expect(shown()).toBe(reply.text());
  const since = frames.findLastIndex(({ type }) => type === 'retract');
  expect(JSON.stringify(frames.slice(since))).not.toContain(secret);
});

test('learning a secret that was not shown yet retracts nothing', async () => {
  const { reply, learn, frames } = open();
  void reply.push('hello ');
  learn(secret);
  void reply.push(`to ${secret}`);
  void reply.endBlock();
  await reply.end();
  expect(reply.text()).toBe(`hello to ${mask}`);
  expect(frames).not.toContainEqual({ type: 'retract' });
});

test('a private key split over two blocks is masked at the end, in the shown text too', async () => {
  const { say, shown } = open();
  const body = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj';
  const text = await say([`-----BEGIN PRIVATE KEY-----\n${body}\n`], [`${body}\n-----END PRIVATE KEY-----\nbye`]);
  expect(text).not.toContain(body);
  expect(shown()).toBe(text);
});

test('deltas add up to the masked text for random splits and secrets learned at random times', async () => {
  const values = ['abababac-1', 'babac-1xyz', 'zzzzzzzz'];
  const text = fc
    .array(fc.constantFrom(...values, 'ab', 'a', 'bab', 'abab', 'zzzz', 'z', ' ', '.', '\n', 'ac-1', 'word '), { maxLength: 8 })
    .map((parts) => parts.join(''));
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ say: text }) },
    { weight: 2, arbitrary: fc.constant({ end: true }) },
    { weight: 1, arbitrary: fc.record({ learn: fc.subarray(values) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.subarray(values), async (steps, known) => {
      const { reply, shown, learn, segments, frames } = open(...known);
      let now = known;
      let seen = 0;
      for (const each of steps) {
        if ('say' in each) void reply.push(each.say);
        else if ('end' in each) void reply.endBlock();
        else learn(...(now = [...now, ...each.learn]));
        expect(shown()).toBe(reply.text());
        const fresh = frames.slice(seen).map((frame) => (frame.type === 'delta' ? frame.text : ''));
        for (const value of now) expect(fresh.join('').replaceAll('\n', '')).not.toContain(value);
        seen = frames.length;
      }
      void reply.endBlock();
      await reply.end();
      expect(shown()).toBe(reply.text());
      for (const value of now) expect(reply.text().replaceAll('\n', '')).not.toContain(value);
      if (frames.some(({ type }) => type === 'retract')) return;
      expect(segments().join('\n\n')).toBe(reply.text());
    }),
    { numRuns: process.env['TEST_DEEP'] === '1' ? 10_000 : 300 },
  );
});

test('text without secrets is passed unchanged', async () => {
  const blocks = fc.array(
    fc.array(fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', 'é', '😀', '.', '"') }), { maxLength: 4 }),
    { maxLength: 6 },
  );
  await fc.assert(
    fc.asyncProperty(blocks, async (said) => {
      const { say, frames } = open(secret);
      const texts = said.map((pieces) => pieces.join('')).filter((text) => text !== '');
      expect(await say(...said)).toBe(texts.join('\n\n'));
      expect(frames).not.toContainEqual({ type: 'retract' });
    }),
  );
});
