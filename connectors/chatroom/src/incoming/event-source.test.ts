import { fakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import type { GatewayDispatchPayload } from 'discord-api-types/v10';
import { expect, onTestFinished, test } from 'vitest';
import { openSessionRecord } from '../gateway/session-record.ts';
import { createEventSource } from './event-source.ts';

const epoch = 1_420_070_400_000n;
const channel = '300000000000000001';
const idAt = (ms: number): string => ((BigInt(ms) - epoch) << 22n).toString();
const message = (ms: number, content: string) => ({
  id: idAt(ms),
  channel_id: channel,
  type: 0,
  content,
  author: { id: '200000000000000001', username: 'ann' },
  attachments: [],
  embeds: [],
  mentions: [],
  mention_roles: [],
  timestamp: new Date(ms).toISOString(),
  edited_timestamp: null,
});

test('missed messages of an earlier process come before the events of the resumed session', async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const clock = createFakeClock();
  const { context } = fakeContext({ type: 'chatroom', dataDir: folder.path, config: {} });
  const first = await openSessionRecord({ ...context, clock, botId: 'b1' });
  first.begin();
  first.behind();
  await first.flush();
  const record = await openSessionRecord({ ...context, clock, botId: 'b1' });
  const now = clock.now();
  const rest = { get: async () => [message(now + 1000, 'missed')] } as never;
  const source = createEventSource({
    ...context,
    rest,
    record,
    clock,
    findChannels: async () => undefined,
    channelsSince: () => [{ id: channel }],
    backfillHours: 12,
  });
  source.onEvent(
    { op: 0, t: 'MESSAGE_CREATE', s: 9, d: message(now + 2000, 'given again') } as unknown as GatewayDispatchPayload,
    's1',
  );
  source.onResumed();
  const texts: string[] = [];
  await expect
    .poll(async () => {
      const items = await source.poll(null, 0, context.signal);
      texts.splice(
        0,
        texts.length,
        ...items.flatMap(({ event: { event } }) => (event?.kind === 'message' ? [event.message.content] : [])),
      );
      return texts.length;
    })
    .toBe(2);
  expect(texts).toEqual(['missed', 'given again']);
});
