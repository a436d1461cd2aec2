import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { createHub } from '@svc/service-kit/hub.ts';
import { noMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createSocketFeed } from './socket-feed.ts';

test('rejects new sessions at the limit, counting those that have not joined yet', async () => {
  const log = { error: () => undefined };
  const hub = createHub<never>(() => undefined);
  const feed = createSocketFeed({ hub: hub as never, token: null, clock: createFakeClock(), mask: noMask, log, mostReaders: 3 });
  const server = http.createServer(feed.handleRequest).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    await feed.close();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/socket.io/?EIO=4&transport=polling`;
  const answers = [];
  for (let n = 0; n < 5; n++)
    answers.push(await fetch(url).then(async (answer) => [answer.status, await answer.text()] as const));
  expect(answers.map(([status]) => status)).toEqual([200, 200, 200, 403, 403]);
  const { sid } = JSON.parse(answers[0]?.[1].slice(1) ?? '') as { sid: string };
  expect((await fetch(`${url}&sid=${sid}`, { method: 'POST', body: '40' })).status).toBe(200);
});
