import path from 'node:path';
import type { Envelope } from '@svc/contract/envelope.ts';
import { queueFull, ServiceError } from '@svc/service-kit/service-error.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { CoreError } from '../core-error.ts';
import { createFakeCore } from '../testing/fake-core.ts';
import { createMortalState, type MortalState } from '../testing/mortal-state.ts';
import { createIngress, type IngressOptions } from './ingress.ts';

const envelope = (text: string, over: Partial<Envelope> = {}): Envelope => ({
  channel: 'shop',
  conversation_key: 'shop:inst_1:a',
  sender: { raw_id: 'ann' },
  content: { text },
  ...over,
});

function openChannel(more: Partial<IngressOptions> = {}) {
  const folder = temporaryFolder();
  const core = createFakeCore();
  const clock = createFakeClock();
  const logs: string[] = [];
  const failed: string[] = [];
  const mortals: MortalState[] = [];
  const start = (over: Partial<IngressOptions> = {}) => {
    const mortal = createMortalState(path.join(folder.path, 'state.jsonl'));
    mortals.push(mortal);
    const openReply: IngressOptions['openReply'] = () => ({
      handlers: {},
      finish: async () => undefined,
      fail: async ({ code }) => void failed.push(code),
    });
    const log = (_level: string, message: string) => void logs.push(message);
    return createIngress({ core, state: mortal.state, log, clock, openReply, ...more, ...over });
  };
  onTestFinished(async () => {
    await Promise.all(mortals.map((mortal) => mortal.kill()));
    folder.remove();
  });
  const pass = (until: () => boolean) =>
    expect.poll(() => (clock.advance(1000), until()), { interval: 1, timeout: 20_000 }).toBe(true);
  return { core, clock, logs, failed, start, pass, texts: () => core.turns.map((turn) => turn.envelope.content.text) };
}

test('replaces lone surrogates and handles the message', async () => {
  const { start, texts } = openChannel();
  await start().take('a\ud800', 'u\udfff', async () => envelope('one \ud83d two'));
  expect(texts()).toEqual(['one \ufffd two']);
});

test('gives a message without an id one that is the same after a restart', async () => {
  const { core, start } = openChannel();
  core.script = () => new Promise(() => undefined);
  await start().take('a', '1', async () => envelope('hi'));
  start();
  await expect.poll(() => core.turns.length).toBe(2);
  const [first, again] = core.turns.map((turn) => turn.envelope.message_id);
  expect(first).toMatch(/^update-/);
  expect(again).toBe(first);
});

test('distinguishes updates and chats by any id', async () => {
  const { start, texts } = openChannel();
  const ingress = start();
  const names = ['', '=a', '#a', 'a', '__proto__', 'x'.repeat(100_000), `${'x'.repeat(99_999)}y`, '\0', '","'];
  for (const chat of names)
    for (const id of names) await ingress.take(chat, id, async () => envelope(`${chat}|${id}`.slice(0, 50)));
  for (const chat of names) for (const id of names) await ingress.take(chat, id, async () => envelope('again'));
  expect(texts()).toHaveLength(names.length ** 2);
});

test('handles an update that arrives many times at once as one message', async () => {
  const { start, texts } = openChannel();
  const ingress = start();
  await Promise.all(Array.from({ length: 500 }, () => ingress.take('a', '1', async () => envelope('hi'))));
  expect(texts()).toEqual(['hi']);
});

test('aborts and skips an update whose preparation never ends', async () => {
  const { start, texts, pass, logs } = openChannel({ prepareWithinMs: 5000 });
  const ingress = start();
  let isTold = false;
  const hangs = ingress.take('a', '1', (signal) => {
    signal.addEventListener('abort', () => (isTold = true));
    return new Promise(() => undefined);
  });
  const next = ingress.take('a', '2', async () => envelope('hi'));
  await pass(() => texts().length === 1);
  await Promise.all([hangs, next]);
  expect(isTold).toBe(true);
  expect(logs).toContain('an update could not be read and was skipped');
});

test('takes what is there of a message when most of its time is over', async () => {
  const { start, texts, pass, logs } = openChannel({ prepareWithinMs: 5000 });
  const taken = start().take(
    'a',
    '1',
    (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(envelope('without its file')))),
  );
  await pass(() => texts().length === 1);
  await taken;
  expect([texts(), logs]).toEqual([['without its file'], []]);
});

test.each([
  ['skipped after 20 times', queueFull('later'), true],
  ['given again for as long as the core is away', new CoreError('unavailable', 'away', { mayHaveRun: false }), false],
])('an update that says "later" is rejected and %s', async (_what, fault, isSkipped) => {
  const { start, pass, logs } = openChannel();
  const ingress = start();
  let [rejected, isTaken] = [0, false];
  while (!isTaken && rejected < 50) {
    let isOver = false;
    const taken = ingress
      .take('a', '1', () => Promise.reject(fault))
      .then(
        () => (isTaken = true),
        () => rejected++,
      )
      .finally(() => (isOver = true));
    await pass(() => isOver);
    await taken;
  }
  expect(rejected).toBe(isSkipped ? 20 : 50);
  expect(logs.includes('an update could not be read and was skipped')).toBe(isSkipped);
});

test.each([
  ['skipped when it says so for ever', new ServiceError('unavailable', 'later'), true],
  ['given again for as long as the core is away', new CoreError('unavailable', 'away', { mayHaveRun: false }), false],
])('an edit that the core may take later is rejected and %s', async (_what, fault, isSkipped) => {
  const { start, core, pass, logs } = openChannel();
  core.amend = () => Promise.reject(fault);
  const as = { channel: 'shop', sender: { raw_id: 'ann' } };
  const change = { conversation_key: 'shop:inst_1:a', message_id: '1', version: 1, text: 'new', as };
  const ingress = start();
  let [rejected, isTaken] = [0, false];
  while (!isTaken && rejected < 50) {
    let isOver = false;
    const taken = ingress
      .amend('a', '2', async () => change)
      .then(
        () => void (isTaken = true),
        () => void rejected++,
      );
    void taken.finally(() => (isOver = true));
    await pass(() => isOver);
  }
  expect(isTaken).toBe(isSkipped);
  expect(logs.includes('an edit or deletion could not be processed and was skipped')).toBe(isSkipped);
});

test('skips a message that is too large to store, and shows its sender the reason', async () => {
  const { start, texts, failed } = openChannel();
  const transcript = Array.from({ length: 9 }, () => ({ role: 'user' as const, text: 'x'.repeat(1_000_000) }));
  await start().take('a', '1', async () => envelope('hi', { content: { text: 'hi', transcript } }));
  expect(texts()).toEqual([]);
  expect(failed).toEqual(['too_large']);
});

test('rejects a message past 16 MiB of open messages, and takes it once there is room', async () => {
  const { core, start, pass } = openChannel();
  const answers: (() => void)[] = [];
  core.script = ({ result }) => new Promise((resolve) => answers.push(() => resolve(result())));
  const ingress = start();
  const long = (id: string) => async () => envelope('x'.repeat(900_000), { message_id: id });
  for (let n = 0; n < 18; n++) await ingress.take(`chat ${n}`, 'u', long(`m${n}`));
  let fault: unknown = null;
  const refused = ingress.take('late', 'u', long('late')).catch((error: unknown) => (fault = error));
  await pass(() => fault !== null);
  await refused;
  expect(fault).toMatchObject({ code: expect.stringMatching(/^(queue_full|unavailable)$/) as string });
  for (const answer of answers.splice(0)) answer();
  await expect.poll(() => core.acks.length).toBe(18);
  let isTaken = false;
  const taken = ingress.take('late', 'u', long('late')).then(() => (isTaken = true));
  await pass(() => isTaken);
  await taken;
  expect(core.turns).toHaveLength(19);
});

test('reports to the core when a reply cannot be opened, and the chat goes on', async () => {
  const { core, start, texts } = openChannel({
    openReply: () => {
      throw new Error('no such chat');
    },
  });
  core.script = ({ result }) => result({ actions: [{ type: 'reply', text: 'yes' }] });
  const ingress = start();
  for (const id of ['1', '2', '3']) await ingress.take('a', id, async () => envelope(id));
  await expect.poll(() => core.acks.length).toBe(3);
  expect(core.acks[0]).toEqual({ turnId: 'turn_1', error: 'no such chat' });
  expect(texts()).toEqual(['1', '2', '3']);
});

test('cancels a reply that is never shown, so that the connector can stop', async () => {
  const { core, start, pass } = openChannel({
    openReply: () => ({ handlers: {}, finish: () => new Promise(() => undefined), fail: async () => undefined }),
  });
  const ingress = start();
  await ingress.take('a', '1', async () => envelope('hi'));
  await pass(() => core.acks.length === 1);
  expect(core.acks[0]?.error).toMatch(/was cancelled after/);
  await ingress.stop(1000);
});

test('splits an album by sender, and one of forty parts at the limit of attachments', async () => {
  const { core, clock, start } = openChannel();
  const ingress = start();
  const attachments = [{ path: '/uploads/x' }];
  let prepared = 0;
  const part = (n: number) => async () => {
    prepared++;
    return envelope('', { message_id: `m${n}`, sender: { raw_id: n < 40 ? 'ann' : 'bo' }, content: { text: '', attachments } });
  };
  const taken = Promise.all(Array.from({ length: 41 }, (_, n) => ingress.take('a', `${n}`, part(n), 'album')));
  // Only the gathering time passes by the fake clock; the time that the disk takes does not count, however busy the machine is.
  await expect.poll(() => prepared, { timeout: 20_000 }).toBe(41);
  clock.advance(1000);
  await expect.poll(() => (clock.advance(0), core.turns.length), { interval: 1, timeout: 20_000 }).toBe(3);
  await taken;
  const counts = core.turns.map(({ envelope: { content, sender } }) => [sender.raw_id, content.attachments?.length]);
  expect(counts).toEqual([
    ['ann', 32],
    ['ann', 8],
    ['bo', 1],
  ]);
});

test('shows a permanent refusal without blocking the chat', async () => {
  const { core, start, texts, failed } = openChannel();
  core.script = ({ envelope: { content }, result }) => {
    if (content.text === 'bad') throw new ServiceError('bad_request', 'no');
    return result();
  };
  const ingress = start();
  for (const text of ['bad', 'good']) await ingress.take('a', text, async () => envelope(text));
  expect(texts()).toEqual(['bad', 'good']);
  await expect.poll(() => failed).toEqual(['bad_request']);
});

test('acknowledges nothing when the disk is full', async () => {
  const { core, pass, start } = openChannel();
  const full = () => Promise.reject(new ServiceError('insufficient_storage', 'full'));
  const state = { get: async () => undefined, list: async () => [], set: full, change: full, delete: full, append: full };
  const ingress = start({ state });
  let fault: unknown = null;
  const taken = ingress.take('a', '1', async () => envelope('hi')).catch((error: unknown) => (fault = error));
  await pass(() => fault !== null);
  await taken;
  expect(core.turns).toEqual([]);
});
