import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import type { TelemetryEvent } from '@svc/contract/event.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { randomIds } from '../ids.ts';
import { createLog } from '../log.ts';
import { createOutboundMask, noMask } from '../redaction/outbound-mask.ts';
import { createTelemetry } from './create-telemetry.ts';
import { serializeEvent, serializeInSlices, toEvent } from './to-event.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

function openTelemetry(defaults: Partial<TelemetryEvent> = {}, mask = noMask) {
  const folder = temporaryFolder();
  const clock = createFakeClock(5000);
  const telemetry = createTelemetry({
    dir: folder.path,
    producer: 'core',
    collectorUrl: 'http://127.0.0.1:1',
    token: null,
    clock,
    ids: randomIds,
    log: createLog('test', 'silent'),
    mask,
    defaults,
  });
  cleanUps.push(folder.remove, () => telemetry.close(0));
  return { telemetry, clock, dir: folder.path };
}

test('an emitted event has an id, a time and the defaults of its producer', () => {
  const { telemetry } = openTelemetry({ surface: 'compat', instance_id: 'compat-1' });
  const event = telemetry.emit({ kind: 'inbound', surface: 'other', text: 'hello' });
  expect(event).toMatchObject({
    ts: 5000,
    kind: 'inbound',
    surface: 'other',
    instance_id: 'compat-1',
    text: 'hello',
    billed: false,
    payload: {},
  });
  expect(event.id).toMatch(/^evt_\w{19}$/);
  expect(telemetry.status()).toEqual({ unsent: 1, dropped: 0, collector: 'ok', lastError: null });
});

test('notifies subscribers of each event, even if another subscriber throws', () => {
  const { telemetry } = openTelemetry();
  const heard: string[] = [];
  telemetry.subscribe(() => {
    throw new Error('a fault of the listener');
  });
  const stop = telemetry.subscribe((event) => heard.push(event.kind));
  telemetry.emit({ kind: 'inbound' });
  stop();
  telemetry.emit({ kind: 'outbound' });
  expect(heard).toEqual(['inbound']);
});

const cycle: Record<string, unknown> = { tokens: 7 };
cycle['self'] = cycle;
test.each([
  ['a cycle', cycle],
  ['a bigint', { tokens: 7, big: 1n }],
  ['a value of many megabytes', { tokens: 7, long: 'x'.repeat(3_000_000) }],
])('reduces a payload with %s to its short values', (_name, payload) => {
  const { telemetry } = openTelemetry();
  const event = telemetry.emit({ kind: 'tool', text: 'y'.repeat(1_000_000), payload });
  expect(event.payload['tokens']).toBe(7);
  expect(event.payload['left_out']).toBeTypeOf('string');
  expect(JSON.stringify(event).length).toBeLessThan(20_000);
});

test.each([
  ['a short text', { text: 'hello' }],
  ['a long text', { text: '"word"\n'.repeat(5000) }],
  ['a secret in it', { text: `${'x '.repeat(20_000)}Cnry7Var2kQzLwXp` }],
  ['a text that is cut', { text: 'x'.repeat(300_000) }],
  ['a line that is cut', { text: '"'.repeat(200_000) }],
  ['a cycle beside it', { text: 'x'.repeat(20_000), payload: cycle }],
  ['half of a surrogate pair', { text: `${'x'.repeat(20_000)}\ud83d` }],
])('serializes a long event in slices with the same result: %s', async (_what, partial) => {
  const mask = createOutboundMask((text) => text.replaceAll('Cnry7Var2kQzLwXp', 'MASK'));
  const event = toEvent({ kind: 'inbound', ...partial }, {}, 'evt_1', 1);
  expect(await serializeInSlices(event, mask)).toEqual(serializeEvent(event, mask));
});

test('close() waits for a long event', async () => {
  const { telemetry } = openTelemetry();
  const heard: TelemetryEvent[] = [];
  telemetry.subscribe((event) => heard.push(event));
  const emitting = telemetry.emitLong({ kind: 'inbound', text: '"word"\n'.repeat(5000) });
  await telemetry.close(0);
  expect(heard).toHaveLength(1);
  await emitting;
});

test('replaces lone surrogates, which the collector would reject', () => {
  const payload = { '\udc00': ['\ud800'] };
  const event = toEvent({ kind: 'tool_result', text: 'cut here \ud83d', payload }, {}, 'evt_1', 1);
  const { line } = serializeEvent(event, noMask);
  expect(JSON.parse(line)).toMatchObject({ text: 'cut here \ufffd', payload: { '\ufffd': ['\ufffd'] } });
});

test('counts events that the spool could not write, and reports the fault until it can', async () => {
  const { telemetry, dir, clock } = openTelemetry();
  rmSync(dir, { recursive: true });
  writeFileSync(dir, 'a file in its place');
  telemetry.emit({ kind: 'inbound' });
  await new Promise(setImmediate);
  expect(telemetry.status()).toMatchObject({ unsent: 0, dropped: 1 });
  expect(telemetry.fault()).toContain('Events are being lost, and with them the usage of turns: the spool could not be written');
  rmSync(dir);
  telemetry.emit({ kind: 'inbound' });
  await new Promise(setImmediate);
  expect(telemetry.fault()).toBeNull();
  rmSync(dir, { recursive: true });
  writeFileSync(dir, 'again');
  telemetry.emit({ kind: 'inbound' });
  await new Promise(setImmediate);
  clock.advance(60_000);
  expect(telemetry.fault()).toContain('the spool cannot be written');
  rmSync(dir);
  expect(telemetry.fault()).toBeNull();
  expect(telemetry.notices()).toEqual([
    expect.stringContaining('Since the start 2 events were lost, so totals of usage and cost are too low'),
  ]);
});

test('reports a collector that accepts no events for a minute, but not a restart', async () => {
  const { telemetry, clock } = openTelemetry();
  telemetry.emit({ kind: 'inbound' });
  clock.advance(1000);
  await vi.waitFor(() => expect(telemetry.status().collector).toBe('away'));
  expect(telemetry.notices()).toEqual([]);
  clock.advance(60_000);
  expect(telemetry.notices()).toEqual([expect.stringMatching(/^The collector accepts no events \(1 waiting\): .*ECONNREFUSED/)]);
  expect(telemetry.fault()).toBeNull();
});

test('masks known secrets in every field, for subscribers, in the spool and in truncated events', () => {
  const secret = 'Cnry7Var2kQzLwXp';
  const { telemetry, dir } = openTelemetry(
    { identity: secret },
    createOutboundMask((text) => text.replaceAll(secret, 'MASK')),
  );
  const heard: string[] = [];
  telemetry.subscribe((event, line) => heard.push(JSON.stringify(event), line));
  telemetry.emit({ kind: secret, id: secret, session: secret, surface: secret, request_id: secret, text: `"${secret}"\n` });
  telemetry.emit({ kind: 'tool', payload: { [secret]: { [secret]: [secret] } } });
  telemetry.emit({
    kind: 'tool',
    text: `${'y'.repeat(16 * 1024 - 8)}${secret}`,
    payload: { long: 'x'.repeat(300_000), [secret]: secret },
  });
  telemetry.emit({ kind: 'tool', text: secret, payload: { big: 1n, by: secret } });
  process.emit('exit', 0);
  const spooled = readdirSync(dir).map((name) => readFileSync(path.join(dir, name), 'utf8'));
  const everything = [...heard, ...spooled].join('');
  expect(everything).toContain('MASK');
  expect(everything).not.toContain(secret.slice(0, 8));
});

test('masks only the shown part of a truncated text, which does not end within a secret', () => {
  const secret = 'sk-live-0123456789abcdef';
  const lengths: number[] = [];
  const mask = createOutboundMask((text) => {
    lengths.push(text.length);
    return text.replaceAll(secret, '[redacted:secret]');
  });
  const event = toEvent({ kind: 'outbound', text: `${'a'.repeat(16_380)}${secret}${'b'.repeat(1_000_000)}` }, {}, 'id', 1);
  const { event: cut, line } = serializeEvent(event, mask);
  expect(cut.text).toBe(`${'a'.repeat(16_380)}[red`);
  expect(line).toContain('a text of 1016404 characters');
  expect(Math.max(...lengths)).toBeLessThan(40_000);
});
