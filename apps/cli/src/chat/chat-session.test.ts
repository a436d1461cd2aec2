import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { TurnFrame } from '@svc/contract/turn.ts';
import { http } from '@svc/service-kit/builtin.ts';
import { createChatSession, Interrupted } from './chat-session.ts';

/** A core that disconnects so many times in the middle of the answer; a negative number never ends it. */
let breaks = 0;
const asked: Envelope[] = [];
const core = http.createServer((request, response) => {
  const answer = async () => {
    asked.push(JSON.parse(await text(request)) as Envelope);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('event: delta\ndata: {"type":"delta","text":"half"}\n\n');
    if (asked.length <= breaks) return void setImmediate(() => response.destroy());
    if (breaks < 0) return;
    response.end(
      'event: result\ndata: {"type":"result","result":{"actions":[],"outcome":"silent","conversation_key":"k","turn_id":"t"}}\n\n',
    );
  };
  void answer();
});
beforeEach(async () => {
  asked.length = 0;
  core.listen(0, '127.0.0.1');
  await once(core, 'listening');
});
afterEach(() => {
  core.closeAllConnections();
  core.close();
});

function open() {
  const coreUrl = `http://127.0.0.1:${(core.address() as AddressInfo).port}`;
  const session = createChatSession({ coreUrl, user: 'anna', conversationKey: 'shell:anna:default' });
  const frames: TurnFrame['type'][] = [];
  let away = 0;
  const run = () => session.run({ text: 'hi' }, { onFrame: ({ type }) => frames.push(type), onAway: () => away++ });
  return { session, frames, run, away: () => away };
}

test('retries the same message when the core disconnects', async () => {
  breaks = 2;
  const { frames, run, away } = open();
  expect((await run()).type).toBe('result');
  expect(frames).toEqual(['delta', 'retract', 'delta', 'retract', 'delta']);
  expect([away(), new Set(asked.map(({ message_id }) => message_id)).size, asked.length]).toEqual([2, 1, 3]);
});

test('gives up after repeated disconnects', async () => {
  breaks = 100;
  await expect(open().run()).rejects.toMatchObject({ run: './svc status' });
  expect(asked).toHaveLength(3);
});

test('leaving does not wait for the running turn', async () => {
  breaks = -1;
  const { session, run, frames } = open();
  const ended = expect(run()).rejects.toBeInstanceOf(Interrupted);
  await expect.poll(() => frames).toEqual(['delta']);
  session.leave();
  await ended;
});
