import type { StartContext } from '@svc/connector-kit';
import { defaultsOf, fakeContext } from '@svc/connector-kit/testing';
import { startCrablineTelegram, type CrablineTelegram } from '@svc/testing/crabline/start-crabline-telegram.ts';
import { createFastClock } from '@svc/testing/fast-clock.ts';
import { createRandom } from '@svc/testing/random.ts';
import { randomFaults } from '@svc/testing/telegram-server/telegram-faults.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { Api } from 'grammy';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { meta, type Config } from '../src/meta.ts';
import { start } from '../src/start.ts';

const people = [1, 2, 3].map((n) => ({ senderId: 100_000_000 + n, senderName: `Person ${n}` }));
const [ann] = people as [(typeof people)[0]];
const clock = createFastClock(10);
let peer: CrablineTelegram;

/** The connector between an independent Bot API server and a core that the test scripts. */
async function openMessenger() {
  const folder = temporaryFolder();
  const config = {
    ...defaultsOf(meta),
    bot_token_secret_key: 'TOKEN',
    api_root: peer.apiRoot,
    http_port: 0,
    allowed_chat_ids: people.map(({ senderId }) => senderId),
  };
  const fake = fakeContext({ type: meta.type, dataDir: folder.path, config }, { TOKEN: peer.token });
  const live = await start(fake.context as unknown as StartContext<Config>, clock);
  onTestFinished(async () => {
    fake.shutdown.abort();
    await live.stop();
    folder.remove();
  });
  return { live, ...fake };
}

beforeEach(async () => {
  peer = await startCrablineTelegram({ hasLimits: true, clock });
  onTestFinished(async () => {
    await peer.close();
    expect([peer.violations, peer.offences]).toEqual([[], []]);
  });
});

const textsTo = (chat: number) =>
  peer
    .recorded()
    .flatMap(({ method, body }) => (method === 'sendMessage' && Number(body['chat_id']) === chat ? [body['text']] : []));

test('answers several chats in order despite network faults', async () => {
  const polls = randomFaults(createRandom(5), { cutBefore: 0.2, cutAfter: 0.2, errorAfter: 0.2 });
  // This server accepts edits of missing messages, so an edit cannot tell whether a message whose response was lost was sent.
  const writes = randomFaults(createRandom(6), { slow: 0.2, tooMany: 0.2 });
  peer.fault = (request) => (request.method === 'getUpdates' ? polls(request) : writes(request));
  await openMessenger();
  for (let n = 0; n < 3; n++) for (const person of people) await peer.inject({ ...person, text: `text ${n}` });
  for (const { senderId } of people)
    await expect.poll(() => textsTo(senderId)).toEqual(['echo: text 0', 'echo: text 1', 'echo: text 2']);
});

test('receives an update again when the response of the poll was lost', async () => {
  await peer.inject({ ...ann, text: 'hello' });
  peer.failNext(/^getUpdates$/, 'cut after', { status: 502, when: 'after' });
  const { core } = await openMessenger();
  await expect.poll(() => textsTo(ann.senderId)).toEqual(['echo: hello']);
  expect(core.turns).toHaveLength(1);
});

test('splits a long reply into messages that the server accepts', async () => {
  const { core } = await openMessenger();
  const long = Array.from({ length: 900 }, (_, n) => `word${n}`).join(' ');
  core.script = ({ result }) => result({ actions: [{ type: 'reply', text: long }] });
  await peer.inject({ ...ann, text: 'tell me all' });
  await expect.poll(() => textsTo(ann.senderId).join(' ').replaceAll(/\s+/g, ' ')).toBe(long);
  expect(textsTo(ann.senderId).length).toBeGreaterThan(1);
});

test('reports a second poller of the bot in the health, and recovers', async () => {
  const { live } = await openMessenger();
  const other = new Api(peer.token, { apiRoot: peer.apiRoot });
  const isHealthy = () => live.health?.().healthy;
  await expect
    .poll(async () => {
      await other.getUpdates({ timeout: 1 }).catch(() => []);
      return isHealthy();
    })
    .toBe(false);
  expect(JSON.stringify(live.health?.())).toMatch('409');
  await expect.poll(isHealthy).toBe(true);
  await peer.inject({ ...ann, text: 'still there?' });
  await expect.poll(() => textsTo(ann.senderId)).toEqual(['echo: still there?']);
});
