import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventFields, type PartialEvent, type TelemetryEvent } from '@svc/contract/event.ts';
import { noMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { serializeEvent, toEvent } from '@svc/service-kit/telemetry/to-event.ts';
import { parseEvent } from '../src/ingest/parse-event.ts';
import { openTestCollector, type TestCollector } from './open-test-collector.ts';

// The emitter, the parser and the store share the shape of an event.

let collector: TestCollector;
beforeEach(() => {
  collector = openTestCollector();
});
afterEach(() => collector.close());

const emit = (partial: PartialEvent) => serializeEvent(toEvent(partial, {}, 'evt_1', 1), noMask);
const parse = (line: string) => parseEvent(JSON.parse(line), { now: 1000, nextId: () => 'evt_2' });

const texts = Object.entries(eventFields).flatMap(([name, field]) =>
  'maxLength' in field ? [{ name: name as 'id', maxLength: field.maxLength as number }] : [],
);

const full: TelemetryEvent = {
  ...(Object.fromEntries(
    texts.map(({ name, maxLength }) => [name, 'x'.repeat(Math.min(maxLength, 1024))]),
  ) as unknown as TelemetryEvent),
  ts: 999,
  payload: { deep: [{ a: 1 }] },
  cost_usd: eventFields.cost_usd.maximum,
  billed_cost_usd: eventFields.cost_usd.minimum,
  billed: true,
  injected: true,
};

test('the table has a column for each field of an event, and three more', async () => {
  const columns = await collector.context.db.all<{ name: string }>("SELECT name FROM pragma_table_info('event')");
  const own = ['seq', 'received_at', 'claimed_at'];
  expect(new Set(columns.map(({ name }) => name))).toEqual(new Set([...Object.keys(eventFields), ...own]));
});

test('an event with every field at its limit is returned unchanged', async () => {
  const { line } = emit(full);
  expect(await collector.ingest(line)).toMatchObject({ ingested: 1, rejected: [] });
  expect(await collector.events()).toEqual([{ ...full, received_at: collector.clock.now() }]);
});

test.each(texts)('$name over its limit is rejected by the collector, and truncated by its producer', ({ name, maxLength }) => {
  const long: PartialEvent = { kind: 'x', [name]: 'y'.repeat(maxLength + 1) };
  expect(parse(JSON.stringify(long))).toEqual({ error: `${name} is longer than ${maxLength} characters` });
  const { event, line } = emit(long);
  expect(event[name].length).toBeLessThanOrEqual(maxLength);
  expect(parse(line)).toMatchObject({ event: { [name]: event[name] } });
});

test('the collector accepts every event that a producer emits', () => {
  const string = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.integer({ min: 1000, max: 1100 }).map((length) => 'ä😀'.repeat(length).slice(0, length)),
  );
  const named = fc.record(Object.fromEntries(texts.map(({ name }) => [name, fc.option(string)])), { requiredKeys: [] });
  const kinds = string.filter((kind) => kind !== '');
  const payloads = fc.dictionary(string, fc.oneof(string, fc.double(), fc.constant(1n)), { maxKeys: 3 });
  fc.assert(
    fc.property(named, kinds, payloads, (fields, kind, payload) => {
      const id = fields['id'] === '' ? null : fields['id'];
      const { line } = emit({ ...fields, id, kind, payload } as unknown as PartialEvent);
      expect(parse(line)).toMatchObject({ event: {} });
    }),
  );
});
