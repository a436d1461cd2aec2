import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { textInSlices } from './in-slices.ts';
import { createMaskThread, type KnownValues, type MaskThread } from './mask-thread.ts';
import { createOffloads } from './offload.ts';
import { createOutboundMask } from './outbound-mask.ts';
import { createRedactor, redactorOf } from './redactor.ts';
import { createSecretMatcher } from './secret-matcher.ts';

const value = 'zq9-known-secret-77';
const sample = 'password = "Tr0ub4dor&3", zq9-known-secret-77, bob@corp.io and ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8. ';
const long = `${'plain words '.repeat(25_000)}${sample}`;
const minute = 60_000;

const knownOf = (...values: string[]): KnownValues => ({ edition: Symbol('test'), values: new Set(values), linkHosts: [] });

const programOf = (source: string): URL => new URL(`data:text/javascript,${encodeURIComponent(source)}`);
const endsAtOnce = programOf('process.exit(3)');
const isSilent = programOf("import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => undefined);");

function open(program?: URL) {
  const clock = createFakeClock();
  const thread = createMaskThread(clock, program);
  onTestFinished(() => thread.close());
  return { clock, thread };
}

/** A redactor that masks long texts in the thread. */
function redactorWith(thread: MaskThread, current: () => KnownValues) {
  const { edition, values } = current();
  return redactorOf([createSecretMatcher(values)], { edition, offloads: createOffloads(thread, current) });
}

test('masks a text in the thread like here, for every audience', async () => {
  const { thread } = open();
  const known = knownOf(value);
  const redactor = createRedactor([value]);
  const texts = fc.array(fc.constantFrom(sample, 'key=', 'plain words ', '\n', '日本', '\ud800', JSON.stringify(sample)), {
    maxLength: 60,
  });
  const property = fc.asyncProperty(texts, async (parts) => {
    const text = parts.join('');
    expect(await thread.mask('private', text, known)).toBe(redactor.text(text));
    expect(await thread.mask('public', text, known)).toBe(redactor.forPublic.text(text));
    expect(await thread.mask('known', text, known)).toBe(redactor.known(text));
    const json = JSON.stringify({ [text]: [text] });
    expect(await thread.mask('json', json, known)).toBe(createOutboundMask(redactor.known).jsonText(json));
  });
  await fc.assert(property, { numRuns: 40 });
});

test('starts with the first long text and ends a minute after the last', async () => {
  const { thread, clock } = open();
  const known = knownOf(value);
  const redactor = redactorWith(thread, () => known);
  await textInSlices(redactor, 'plain words '.repeat(100));
  expect(thread.isRunning()).toBe(false);
  expect(await textInSlices(redactor, long)).toBe(redactor.text(long));
  expect(thread.isRunning()).toBe(true);
  clock.advance(minute - 1);
  expect(thread.isRunning()).toBe(true);
  clock.advance(1);
  expect(thread.isRunning()).toBe(false);
  expect(await thread.mask('known', value, known)).toBe('[redacted:secret]');
});

test('masks a text that turns out to be costly in the thread', async () => {
  const { thread } = open();
  const known = knownOf(value);
  const redactor = redactorWith(thread, () => known);
  const offload = createOffloads(thread, () => known).text('private');
  const text = sample.repeat(200);
  expect(offload(text, 0)).toBeNull();
  expect(await offload(text, 1000)).toBe(redactor.text(text));
});

test('returns each of several concurrent texts to its caller', async () => {
  const { thread } = open();
  const known = knownOf(value);
  const texts = Array.from({ length: 50 }, (_, i) => `${i} ${value} ${'x'.repeat(i * 100)}`);
  const masked = await Promise.all(texts.map((text) => thread.mask('known', text, known)));
  expect(masked).toEqual(texts.map((text) => text.replace(value, '[redacted:secret]')));
});

test('masks a value that becomes known while the text is masked', async () => {
  const { thread } = open();
  let known = knownOf(value);
  const offload = createOffloads(thread, () => known).text('known');
  const text = `${value} later-known-value `.repeat(20_000);
  const masking = offload(text, 0);
  known = knownOf(value, 'later-known-value');
  expect(await masking).toBe('[redacted:secret] [redacted:secret] '.repeat(20_000));
});

test('gives up when the values keep changing', async () => {
  const { thread } = open();
  const offload = createOffloads(thread, () => knownOf(value)).text('known');
  expect(await offload(value.repeat(20_000), 0)).toBeNull();
});

test.each([
  ['ends by itself', endsAtOnce, /it exited unexpectedly/],
  ['cannot be loaded', programOf("import './nowhere.ts'"), /failed: /],
  ['throws', programOf("throw new Error('no rules')"), /no rules/],
])('when the thread %s, masks here and reports the fault until a thread works', async (_name, program, words) => {
  const { thread, clock } = open(program);
  const known = knownOf(value);
  const redactor = redactorWith(thread, () => known);
  expect(await textInSlices(redactor, long)).toBe(redactor.text(long));
  expect(thread.fault()).toMatch(words);
  expect([thread.isRunning(), thread.hasRoom(1)]).toEqual([false, false]);
  expect(await textInSlices(redactor, long)).toBe(redactor.text(long));
  clock.advance(minute);
  expect(thread.hasRoom(1)).toBe(true);
  expect(thread.fault()).toMatch(words);
});

test('ends a thread that does not respond, and masks here', async () => {
  const { thread, clock } = open(isSilent);
  const masking = thread.mask('known', value, knownOf(value));
  clock.advance(minute);
  expect(await masking).toBeNull();
  expect(thread.fault()).toMatch(/did not answer for 60 s/);
});

test('bounds the text that waits for the thread', async () => {
  const { thread } = open(isSilent);
  const known = knownOf(value);
  const waiting = thread.mask('known', 'x'.repeat(32 * 1024 * 1024), known);
  expect(thread.hasRoom(1)).toBe(false);
  expect(await thread.mask('known', 'x', known)).toBeNull();
  await thread.close();
  expect(await waiting).toBeNull();
});

test('close() returns waiting texts to be masked here, and prevents a restart', async () => {
  const { thread } = open();
  const waiting = thread.mask('known', value, knownOf(value));
  await thread.close();
  expect(await waiting).toBeNull();
  expect(await thread.mask('known', value, knownOf(value))).toBeNull();
  expect([thread.isRunning(), thread.fault()]).toEqual([false, null]);
});

test('returns a text that cannot be masked, without affecting others', async () => {
  const { thread } = open();
  const known = knownOf(value);
  const notJson = thread.mask('json', `{"a": ${value}`, known);
  const other = thread.mask('known', value, known);
  expect([await notJson, await other]).toEqual([null, '[redacted:secret]']);
  expect([thread.fault(), thread.isRunning()]).toEqual([null, true]);
});

test('allows the same links in public as here', async () => {
  const { thread } = open();
  const linkHosts = ['acme.io'];
  const text = 'see https://acme.io/a and https://evil.example.net/b, or www.elsewhere.org';
  const masked = await thread.mask('public', text, { ...knownOf(value), linkHosts });
  expect(masked).toBe(createRedactor([value], linkHosts).forPublic.text(text));
  expect(masked).toContain('acme.io');
});
