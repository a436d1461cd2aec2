import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textInSlices } from './in-slices.ts';
import { createOrderedWriter, longJson } from './ordered-writer.ts';
import { createOutboundMask } from './outbound-mask.ts';
import { createRedactor } from './redactor.ts';

const secret = 'zq9-known-secret-77';
const redactor = createRedactor([secret]);
const mask = createOutboundMask(redactor.known, { inSlices: (text) => textInSlices(redactor.knownOnly, text) });
const unexpected = (error: unknown) => expect.unreachable(String(error));

test('writes a short value at once and a long one later, in order', async () => {
  const value = fc.oneof(
    fc.string(),
    fc.constant(secret),
    fc.integer({ min: 1, max: 3 }).map((n) => `${'x'.repeat(n * longJson)} ${secret}`),
  );
  const rule = fc.asyncProperty(fc.array(value, { maxLength: 8 }), async (values) => {
    const write = createOrderedWriter(mask, unexpected);
    const written: string[] = [];
    const last = values.map((each) => write(each, (json) => void written.push(json))).at(-1);
    await last;
    expect(written).toEqual(values.map((each) => mask.json(each)));
  });
  await fc.assert(rule, { numRuns: 20 });
  const written: string[] = [];
  expect(createOrderedWriter(mask, unexpected)('short', (json) => void written.push(json))).toBeNull();
  expect(written).toEqual(['"short"']);
});

test('yields to the event loop while a long value is masked', async () => {
  let turns = 0;
  const count = () => void (turns++, (timer = setImmediate(count)));
  let timer = setImmediate(count);
  await createOrderedWriter(mask, unexpected)({ text: `"${secret}" \\u0041`.repeat(5000) }, () => undefined);
  clearImmediate(timer);
  expect(turns).toBeGreaterThan(3);
});

test('reports a failed mask, and writes nothing of the value', async () => {
  const faults: unknown[] = [];
  const broken = { ...mask, longJsonText: () => Promise.reject(new Error('no list')) };
  const written: string[] = [];
  await createOrderedWriter(broken, (error) => faults.push(error))('x'.repeat(longJson), (json) => void written.push(json));
  expect([faults, written]).toEqual([[new Error('no list')], []]);
});

test('bounds the text that waits for a reader', () => {
  const faults: unknown[] = [];
  const write = createOrderedWriter(mask, (error) => faults.push(error));
  for (let n = 0; n < 40; n++) void write('x'.repeat(1024 * 1024), () => new Promise(() => undefined));
  expect(faults).not.toEqual([]);
});
