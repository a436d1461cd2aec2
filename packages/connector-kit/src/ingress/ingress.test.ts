import path from 'node:path';
import type { Envelope } from '@svc/contract/envelope.ts';
import { textOf, type HandleResult } from '@svc/contract/turn.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { createFakeCore } from '../testing/fake-core.ts';
import { createMortalState, type MortalState } from '../testing/mortal-state.ts';
import { createIngress, type IngressOptions } from './ingress.ts';

const envelope = (chat: string, id: string, text = id): Envelope => ({
  channel: 'shop',
  conversation_key: `shop:inst_1:${chat}`,
  message_id: id,
  sender: { raw_id: 'ann' },
  content: { text },
});

/** A channel across restarts: what the platform shows, what the core was asked, what is on disk. */
function openChannel() {
  const folder = temporaryFolder();
  const mortals: MortalState[] = [];
  onTestFinished(async () => {
    await Promise.all(mortals.map((mortal) => mortal.kill()));
    folder.remove();
  });
  const core = createFakeCore();
  const clock = createFakeClock();
  const shown: string[] = [];
  const logs: string[] = [];
  const log = (_level: string, message: string) => void logs.push(message);
  const state = () => {
    const mortal = createMortalState(path.join(folder.path, 'state.jsonl'));
    mortals.push(mortal);
    return mortal.state;
  };
  const openReply: IngressOptions['openReply'] = () => ({
    handlers: {},
    finish: async ({ actions }) => void shown.push(textOf(actions)),
    fail: async ({ code }) => void shown.push(code),
  });
  const start = (options: Partial<IngressOptions> = {}) =>
    createIngress({ core, state: state(), log, clock, openReply, ...options });
  const asked = () => core.turns.map((turn) => turn.envelope.content.text);
  return { core, clock, shown, logs, state, start, asked };
}

const settled = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await settled();
}

const open = async ({ state }: Pick<ReturnType<typeof openChannel>, 'state'>) => (await state().list('ingress/open/')).length;

test('an update is safe once the core has accepted it, and closed once its reply is shown', async () => {
  const channel = openChannel();
  const answer = Promise.withResolvers<HandleResult>();
  channel.core.script = () => answer.promise;
  await channel.start().take('a', '1', async () => envelope('a', '1'));
  expect(await open(channel)).toBe(1);
  answer.resolve(channel.core.turns[0]!.result({ actions: [{ type: 'reply', text: 'yes' }] }));
  await until(async () => (await open(channel)) === 0);
  await until(() => channel.core.acks.length === 1);
  expect(channel.shown).toEqual(['yes']);
  expect(channel.core.acks).toEqual([{ turnId: 'turn_1' }]);
});

test('ignores a repeated update, also after a restart', async () => {
  const channel = openChannel();
  const take = () => channel.start().take('a', '1', async () => envelope('a', '1'));
  await take();
  await until(async () => (await open(channel)) === 0);
  await take();
  expect(channel.asked()).toEqual(['1']);
});

test('keeps the order of a chat through slow downloads, without delaying other chats', async () => {
  const { start, asked } = openChannel();
  const ingress = start();
  const download = Promise.withResolvers<Envelope>();
  const first = ingress.take('a', '1', () => download.promise);
  const second = ingress.take('a', '2', async () => envelope('a', '2'));
  await ingress.take('b', '3', async () => envelope('b', '3'));
  download.resolve(envelope('a', '1'));
  await Promise.all([first, second]);
  expect(asked()).toEqual(['3', '1', '2']);
});

test('joins an album into one message, and its updates become safe together', async () => {
  const { start, core, clock } = openChannel();
  const ingress = start();
  const photo = (id: string): Envelope => ({
    ...envelope('a', id, id === '1' ? 'look' : ''),
    content: { text: id === '1' ? 'look' : '', attachments: [{ path: `/uploads/${id}` }] },
  });
  const safe: string[] = [];
  const taken = ['1', '2', '3'].map((id) => ingress.take('a', id, async () => photo(id), 'album').then(() => safe.push(id)));
  await until(() => {
    if (core.turns.length > 0) return true;
    expect(safe).toEqual([]);
    clock.advance(100);
    return false;
  });
  await Promise.all(taken);
  expect(core.turns.map((turn) => turn.envelope)).toEqual([
    { ...photo('1'), content: { text: 'look', attachments: ['1', '2', '3'].map((id) => ({ path: `/uploads/${id}` })) } },
  ]);
});

test.each([
  ['comes with a later poll', ['1\n2']],
  ['does not come', ['1']],
])('waits for the rest of an album while polls fail, and it %s', async (_what, messages) => {
  const { start, clock, asked } = openChannel();
  const ingress = start({ gatherMs: 700 });
  const pass = async (ms: number) => {
    for (let n = 0; n < ms / 100; n++) {
      clock.advance(100);
      await settled();
    }
  };
  const taken = [ingress.take('a', '1', async () => envelope('a', '1'), 'album')];
  await settled();
  ingress.caughtUp(clock.elapsed());
  await pass(5000);
  expect(asked()).toEqual([]);
  if (messages[0] !== '1') taken.push(ingress.take('a', '2', async () => envelope('a', '2'), 'album'));
  await settled();
  ingress.caughtUp(clock.elapsed());
  await pass(1000);
  ingress.caughtUp(clock.elapsed());
  await Promise.all(taken);
  expect(asked()).toEqual(messages);
});

test('does not wait for an album longer than about 30 seconds', async () => {
  const { start, clock, asked } = openChannel();
  const ingress = start();
  const taken = ingress.take('a', '1', async () => envelope('a', '1'), 'album');
  ingress.caughtUp(clock.elapsed());
  await until(() => {
    clock.advance(100);
    return asked().length > 0;
  });
  await taken;
  expect(clock.elapsed()).toBeLessThanOrEqual(32_000);
});

test('after a restart, asks open messages again in order and before new ones', async () => {
  const { start, core, asked } = openChannel();
  core.script = () => new Promise(() => undefined);
  const before = start();
  await before.take('a', '1', async () => envelope('a', '1'));
  await before.take('a', '2', async () => envelope('a', '2'));
  await start().take('a', '3', async () => envelope('a', '3'));
  expect(asked()).toEqual(['1', '2', '1', '2', '3']);
  expect(core.turns.map(({ options }) => options.again)).toEqual([false, false, true, true, false]);
});

test('retries while the core is full, and rejects an update that is not accepted in time', async () => {
  const { start, core, clock, asked } = openChannel();
  let isFull = true;
  const handleStream = core.handleStream;
  core.handleStream = async (...args) => {
    if (isFull) throw new ServiceError('queue_full', 'full');
    return handleStream(...args);
  };
  const ingress = start();
  const take = () => ingress.take('a', '1', async () => envelope('a', '1'));
  let isRejected = false;
  const first = take().catch(() => (isRejected = true));
  await until(() => {
    clock.advance(1000);
    return isRejected;
  });
  await first;
  const again = take();
  isFull = false;
  await until(() => {
    clock.advance(1000);
    return asked().length > 0;
  });
  await again;
  expect(asked()).toEqual(['1']);
});

test('sends an edit after its message, and retries it until the core takes it', async () => {
  const { start, core, clock } = openChannel();
  const said: string[] = [];
  core.script = ({ envelope: { content }, result }) => (said.push(content.text), result());
  let isAway = true;
  core.amend = async ({ text }) => {
    if (isAway) throw new ServiceError('unavailable', 'away');
    said.push(`edited: ${text}`);
    return { outcome: 'replaced' };
  };
  const ingress = start();
  const download = Promise.withResolvers<Envelope>();
  const taken = ingress.take('a', '1', () => download.promise);
  const as = { channel: 'shop', sender: { raw_id: 'ann' } };
  const change = { conversation_key: 'shop:inst_1:a', message_id: '1', version: 1, text: 'new', as };
  const changed = ingress.amend('a', '2', async () => change);
  download.resolve(envelope('a', '1'));
  await taken;
  isAway = false;
  await until(() => {
    clock.advance(1000);
    return said.length === 2;
  });
  await changed;
  expect(said).toEqual(['1', 'edited: new']);
});

test('updates behind a rejected one are rejected until it is redelivered, or for a minute', async () => {
  const { start, clock, asked } = openChannel();
  const ingress = start();
  let isAway = true;
  const take = (id: string) =>
    ingress
      .take('a', id, async () => {
        if (isAway) throw new ServiceError('unavailable', 'away');
        return envelope('a', id);
      })
      .then(
        () => 'taken',
        () => 'refused',
      );
  const first = take('1');
  let isRefused = false;
  void first.then(() => (isRefused = true));
  await until(() => {
    clock.advance(1000);
    return isRefused;
  });
  isAway = false;
  expect([await take('2'), await take('1'), await take('2')]).toEqual(['refused', 'taken', 'taken']);
  expect(asked()).toEqual(['1', '2']);
  isAway = true;
  const lost = take('3');
  isRefused = false;
  void lost.then(() => (isRefused = true));
  await until(() => {
    clock.advance(1000);
    return isRefused;
  });
  isAway = false;
  clock.advance(60_000);
  expect(await take('4')).toBe('taken');
});

test('logs and skips an update that cannot be read after three tries', async () => {
  const { start, clock, asked, logs } = openChannel();
  const ingress = start();
  let tries = 0;
  const broken = ingress.take('a', '1', async () => {
    tries++;
    throw new Error('no such field');
  });
  const next = ingress.take('a', '2', async () => envelope('a', '2'));
  await until(() => {
    clock.advance(1000);
    return asked().length > 0;
  });
  await Promise.all([broken, next]);
  expect(tries).toBe(3);
  expect(logs).toContain('an update could not be read and was skipped');
});

test('shows the error of a failed turn and closes it', async () => {
  const channel = openChannel();
  channel.core.script = () => Promise.reject(new ServiceError('engine_failed', 'it broke'));
  await channel.start().take('a', '1', async () => envelope('a', '1'));
  await until(async () => (await open(channel)) === 0);
  expect(channel.shown).toEqual(['engine_failed']);
});

test('reports a reply that cannot be shown to the core', async () => {
  const { start, core } = openChannel();
  const finish = () => Promise.reject(new Error('the chat is gone'));
  await start({ openReply: () => ({ handlers: {}, finish, fail: finish }) }).take('a', '1', async () => envelope('a', '1'));
  await until(() => core.acks.length > 0);
  expect(core.acks).toEqual([{ turnId: 'turn_1', error: 'the chat is gone' }]);
});

test('takes no updates after stop(), and open messages stay open', async () => {
  const channel = openChannel();
  channel.core.script = () => new Promise(() => undefined);
  const ingress = channel.start();
  await ingress.take('a', '1', async () => envelope('a', '1'));
  const stop = ingress.stop(1000);
  await expect(ingress.take('a', '2', async () => envelope('a', '2'))).rejects.toMatchObject({ code: 'unavailable' });
  await settled();
  channel.clock.advance(1000);
  await stop;
  expect(await open(channel)).toBe(1);
});
