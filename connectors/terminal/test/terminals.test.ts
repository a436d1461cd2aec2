import { CoreError, type StartContext } from '@svc/connector-kit';
import { expect, test } from 'vitest';
import type { Config } from '../src/meta.ts';
import { start } from '../src/start.ts';

type Said = { key: string; text: string; interrupt?: boolean };

/** A core with one session in a terminal, listed after 150 without one. */
async function open(refusal: CoreError | null = null) {
  const said: Said[] = [];
  const others = Array.from({ length: 150 }, (_, i) => ({ conversation_key: `messenger:m1:user:${i}`, multiplexer: null }));
  const all = [
    ...others,
    { conversation_key: 'messenger:m1:user:7a', multiplexer: 'tmux', tmux_target: 'term_1', title: 'Trip' },
  ];
  const bench = { refusal, tier: 'SACRED' };
  const resolve = async () => ({ denied: false, trust_tier: bench.tier });
  const refuse = () => {
    if (bench.refusal !== null) throw bench.refusal;
  };
  const sessions = {
    async list(as: unknown, { limit = 100, before = '0' } = {}) {
      expect(as).toEqual({ channel: 'terminal', sender: { raw_id: 'ada' } });
      refuse();
      const from = Number(before);
      return { sessions: all.slice(from, from + limit), next: from + limit < all.length ? String(from + limit) : null };
    },
    async inject(_as: unknown, key: string, words: Omit<Said, 'key'>) {
      refuse();
      said.push({ key, ...words });
      return {};
    },
  };
  const ctx = {
    config: { sender: 'ada' },
    core: { sessions, resolve },
    log: () => undefined,
    signal: new AbortController().signal,
  };
  const connector = await start(ctx as unknown as StartContext<Config>);
  const send = (target: string, kind = 'text') =>
    connector.send?.({ id: 'out_1', target, kind, text: 'Run the tests' }, new AbortController().signal);
  return { connector, send, said, bench };
}

test('sends a message to the terminal by its name or its conversation, and can interrupt', async () => {
  const { connector, send, said } = await open();
  await send('term_1');
  await send('messenger:m1:user:7a', 'interrupt');
  expect(said).toEqual([
    { key: 'messenger:m1:user:7a', text: 'Run the tests', interrupt: false, message_id: 'out_1' },
    { key: 'messenger:m1:user:7a', text: 'Run the tests', interrupt: true, message_id: 'out_1' },
  ]);
  expect(await connector.channels?.()).toEqual([
    { id: 'term_1', name: 'Trip', enabled: true, conversation_key: 'messenger:m1:user:7a' },
  ]);
  expect(connector.health()).toEqual({ healthy: true });
  await connector.stop();
});

test('rejects a session without a terminal and an unknown one permanently', async () => {
  const { connector, send, said } = await open();
  for (const target of ['messenger:m1:user:3', 'term_2'])
    await expect(send(target)).rejects.toMatchObject({ code: 'unprocessable', message: expect.stringContaining('svc terminal') });
  expect(said).toEqual([]);
  await connector.stop();
});

test('without access, rejects messages with advice in the health; an unreachable core is a temporary error', async () => {
  const { connector, send, bench } = await open(new CoreError('no_access', 'no', { mayHaveRun: false }));
  expect(connector.health()).toEqual({ healthy: false, detail: expect.stringContaining('./svc person link owner terminal ada') });
  await expect(send('term_1')).rejects.toMatchObject({ code: 'unprocessable', message: expect.stringContaining('person link') });
  bench.refusal = new CoreError('unavailable', 'away', { mayHaveRun: false });
  await expect(send('term_1')).rejects.toMatchObject({ code: 'unavailable' });
  await connector.stop();
});

test('rejects a person without permission to type with that reason', async () => {
  const { connector, send, bench, said } = await open();
  bench.tier = 'TRUSTED';
  const noRight = expect.stringContaining('"ada" has no permission to type here');
  await expect(send('term_1')).rejects.toMatchObject({ code: 'unprocessable', message: noRight });
  await expect(connector.channels?.()).rejects.toMatchObject({ code: 'forbidden', message: noRight });
  expect(said).toEqual([]);
  await connector.stop();
});
