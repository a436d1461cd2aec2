import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createFileState } from '@svc/connector-kit/state/file-state.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createPushSender } from '../src/push/push-sender.ts';
import { createSubscriptions } from '../src/push/subscriptions.ts';
import { openVapid } from '../src/push/vapid.ts';
import { createBrowser, startPushService, type Browser } from './push-service.ts';

/** A clock that the test advances, starting at the present time, which push services check. */
const fakeTimers = (): FakeClock => createFakeClock(Date.now());

function openState() {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  return () => createFileState(path.join(folder.path, 'state.jsonl'), () => undefined);
}

async function open({ browsers = [createBrowser()], clock = fakeTimers() }: { browsers?: Browser[]; clock?: FakeClock } = {}) {
  const service = await startPushService(browsers);
  const state = openState()();
  const subscriptions = createSubscriptions(state);
  const logs: string[] = [];
  let tell: (() => void) | null = null;
  const log = (level: string, message: string, fields?: object) => {
    logs.push(JSON.stringify({ level, message, ...fields }));
    tell?.();
  };
  const vapid = await openVapid(state, 'https://assistant.example.com', systemClock);
  const left = new AbortController();
  onTestFinished(() => left.abort());
  const { network } = service;
  const isKnown = (device: string) => device !== 'd_gone';
  const sender = createPushSender({ subscriptions, vapid, clock, log, isKnown, signal: left.signal, network });
  /** Resolves when a line of the log matches. */
  const logged = (words: RegExp): Promise<void> =>
    new Promise((resolve) => {
      tell = () => {
        if (logs.some((line) => words.test(line))) resolve();
      };
      tell();
    });
  return { service, browser: browsers[0]!, sender, subscriptions, vapid, clock, logs, logged };
}

const answer = { type: 'answer' } as const;

test('the browser decrypts the message, and the push service verifies its sender', async () => {
  const { service, browser, sender, subscriptions } = await open();
  await subscriptions.set('d_1', browser.subscription);
  sender.send('d_1', answer);
  await service.answered(1);
  expect(service.pushed).toMatchObject([
    { message: answer, headers: { 'content-encoding': 'aes128gcm', ttl: '86400', urgency: 'high', topic: 'answer' } },
  ]);
});

test('the key survives a restart and differs between gateways', async () => {
  const open = openState();
  const first = await openVapid(open(), 'https://a.example', systemClock);
  expect((await openVapid(open(), 'https://a.example', systemClock)).publicKey).toBe(first.publicKey);
  expect((await openVapid(openState()(), 'https://a.example', systemClock)).publicKey).not.toBe(first.publicKey);
  expect(Buffer.from(first.publicKey, 'base64url')).toHaveLength(65);
});

test('a token is for one push service, and is renewed with age or after a change of the clock', async () => {
  const clock = createFakeClock();
  const { authorization } = await openVapid(openState()(), 'mailto:a@b.example', clock);
  const at = (endpoint: string) => authorization(new URL(endpoint));
  const first = at('https://push.example/1');
  expect(at('https://push.example/2')).toBe(first);
  expect(at('https://other.example/1')).not.toBe(first);
  clock.advance(7 * 60 * 60_000);
  const second = at('https://push.example/1');
  expect(second).not.toBe(first);
  clock.setBack(30 * 24 * 60 * 60_000);
  expect(at('https://push.example/1')).not.toBe(second);
});

test.each([404, 410])('removes the subscription when the push service answers %i', async (status) => {
  const { service, browser, sender, subscriptions, logged } = await open();
  await subscriptions.set('d_1', browser.subscription);
  service.answers.push({ status });
  sender.send('d_1', answer);
  await logged(/has ended its push subscription/);
  expect(await subscriptions.get('d_1')).toBeUndefined();
});

test('removing an expired subscription keeps its replacement', async () => {
  const { browser, subscriptions } = await open();
  await subscriptions.set('d_1', browser.subscription);
  await subscriptions.remove('d_1', 'https://push.example/an-earlier-one');
  expect(await subscriptions.get('d_1')).toMatchObject({ endpoint: browser.subscription.endpoint });
});

test('retries after the pause that the push service names or a minute, and gives up after three attempts', async () => {
  const { service, browser, sender, subscriptions, clock, logged } = await open();
  await subscriptions.set('d_1', browser.subscription);
  service.answers.push({ status: 429, headers: { 'retry-after': '30' } }, { status: 503 }, { status: 503 });
  sender.send('d_1', answer);
  await logged(/429.*"again_ms":30000/);
  clock.advance(29_999);
  expect(service.refused).toEqual([429]);
  clock.advance(1);
  await logged(/503.*"again_ms":60000/);
  clock.advance(60_000);
  await logged(/503.*"again_ms":null/);
  expect([service.refused, service.pushed]).toEqual([[429, 503, 503], []]);
});

test('does not retry after a status of 400, and keeps the subscription', async () => {
  const { service, browser, sender, subscriptions, logged } = await open();
  await subscriptions.set('d_1', browser.subscription);
  service.answers.push({ status: 400 });
  sender.send('d_1', answer);
  await logged(/rejected.*400/);
  expect(await subscriptions.get('d_1')).toBeDefined();
});

test('rejects invalid endpoints, and sends nothing into private networks', async () => {
  const { service, browser, sender, subscriptions, logs, logged } = await open();
  const { keys } = browser.subscription;
  for (const endpoint of ['http://push.example/1', 'file:///etc/passwd', 'https://a:b@push.example/', 'push.example', 'https://'])
    await expect(subscriptions.set('d_1', { endpoint, keys })).rejects.toMatchObject({ code: 'bad_request' });
  for (const host of ['127.0.0.1', '[::1]', '169.254.169.254', 'intranet.example']) {
    logs.length = 0;
    await subscriptions.set('d_1', { endpoint: `https://${host}/push/one`, keys });
    sender.send('d_1', answer);
    await logged(/no public internet address/);
  }
  expect([service.pushed, service.refused]).toEqual([[], []]);
});

test('a browser that is paired again is notified as the new device alone', async () => {
  const { browser, subscriptions } = await open();
  await subscriptions.set('d_old', browser.subscription);
  await subscriptions.set('d_new', browser.subscription);
  expect(await subscriptions.get('d_old')).toBeUndefined();
  expect(await subscriptions.get('d_new')).toBeDefined();
});

test('notifies each subscribed device once, and no unknown or removed one', async () => {
  const many = Array.from({ length: 30 }, (_, n) => createBrowser(`/push/${n}`));
  const { service, sender, subscriptions } = await open({ browsers: many });
  for (const [n, { subscription }] of many.entries()) await subscriptions.set(`d_${n}`, subscription);
  await subscriptions.set('d_gone', createBrowser('/push/gone').subscription);
  sender.send('d_unknown', answer);
  sender.send('d_gone', answer);
  for (const n of many.keys()) sender.send(`d_${n}`, answer);
  await service.answered(many.length);
  expect(new Set(service.pushed.map(({ path: where }) => where)).size).toBe(many.length);
  expect(service.refused).toEqual([]);
});
