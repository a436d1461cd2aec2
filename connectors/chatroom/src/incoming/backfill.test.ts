import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { readMissed } from './backfill.ts';

const epoch = 1_420_070_400_000n;
const idAt = (ms: number): string => ((BigInt(ms) - epoch) << 22n).toString();
const message = (ms: number, channel: string) => ({
  id: idAt(ms),
  channel_id: channel,
  type: 0,
  content: `of ${channel}`,
  author: { id: '200000000000000001', username: 'ann' },
  attachments: [],
  embeds: [],
  mentions: [],
  mention_roles: [],
  timestamp: new Date(ms).toISOString(),
  edited_timestamp: null,
});

/** `get` returns the messages of a channel, or throws. */
async function read(channels: string[], get: (channel: string, later: number) => unknown[]) {
  const clock = createFakeClock();
  const began = clock.now();
  const logs: string[] = [];
  const rest = { get: async (route: string) => get(/channels\/(\d+)\//.exec(route)?.[1] ?? '', began + 60_000) } as never;
  const signal = new AbortController().signal;
  const log = (_level: string, text: string) => void logs.push(text);
  const reading = readMissed({ rest, clock, log, signal }, { channels: channels.map((id) => ({ id })), since: began });
  let isOver = false;
  void reading.finally(() => (isOver = true));
  for (let n = 0; !isOver && n < 1000; n++) {
    for (let turn = 0; turn < 8; turn++) await new Promise(setImmediate);
    clock.advance(500);
  }
  return { texts: (await reading).map(({ content }) => content), logs, clock };
}

test('retries a channel that cannot be read at the moment', async () => {
  let tries = 0;
  const { texts, logs } = await read(['300000000000000001'], (channel, later) => {
    if (++tries <= 6) throw Object.assign(new Error('cut'), { code: 'ECONNRESET' });
    return [message(later, channel)];
  });
  expect([texts, tries, logs]).toEqual([['of 300000000000000001'], 7, []]);
});

test('logs when there are more channels than can be read in time', async () => {
  const channels = Array.from({ length: 220 }, (_, n) => String(300_000_000_000_000_000n + BigInt(n)));
  const { texts, logs } = await read(channels, (channel, later) => [message(later, channel)]);
  expect([texts.length, logs]).toEqual([200, ['more channels have missed messages than are read']]);
});
