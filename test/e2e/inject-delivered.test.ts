import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Instance } from '@svc/contract/instance.ts';
import { startChatPlatform, type ChatPlatform } from '@svc/testing/chat-platform/start-chat-platform.ts';
import { openHouse, waitFor, type House } from '@svc/testing/house.ts';
import { installChatConnector } from '@svc/testing/install-chat-connector.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { signalProcess } from '@svc/service-kit/process/signal-process.ts';

type Inject = { ok: boolean; reply: string; delivered: boolean; deliverErr: string | null };

const folder = temporaryFolder();
let platform: ChatPlatform;
let house: House;

/** The service with one instance of the connector for a chat platform. */
beforeAll(async () => {
  platform = await startChatPlatform();
  const config = installChatConnector(folder.path, platform);
  const ann = { key: 'ann', role: 'known', identifiers: [{ surface: 'platform', value: 'ann' }] };
  writeFileSync(path.join(folder.path, 'trust.seed.json'), JSON.stringify({ principals: [ann] }));
  house = await openHouse({ dataDir: folder.path });
  await house.post(`${house.urls.manager}/instances`, { type: 'platform', name: 'Platform', enabled: true, config });
});
afterAll(async () => {
  await house.stop();
  await platform.close();
  folder.remove();
});

const change = (action: string) => house.post(`${house.urls.manager}/instances/platform/${action}`);
const instance = async () => (await house.get<{ instance: Instance }>(`${house.urls.manager}/instances/platform`)).instance;
const inject = async (text: string) =>
  (await house.post<Inject>(`${house.urls.core}/v2/inject`, { conversation_key: 'platform:platform:user:ann', text })).body;
const textsLike = (word: string) => platform.replies('ann').filter(({ text }) => text.includes(word));
const arrives = (word: string) =>
  waitFor(
    () => textsLike(word).length > 0,
    20_000,
    () => `"${word}" did not arrive: ${house.output()}`,
  );

test('the reply to an injected message is delivered over the instance of its conversation', async () => {
  platform.say({ chat: 'ann', from: 'ann', text: 'echo hello' });
  await arrives('hello');
  expect(await inject('echo first')).toMatchObject({ ok: true, delivered: true, deliverErr: null });
  expect(textsLike('first')).toHaveLength(1);
});

test.each([
  ['stopped', () => change('stop'), () => change('start')],
  [
    'killed and being started again',
    async () => {
      const { pid } = await instance();
      signalProcess(pid, 'SIGKILL');
    },
    () => Promise.resolve(),
  ],
])('while the instance is %s, the reply is kept, and delivered once when it is back', async (how, down, up) => {
  await down();
  const answer = await inject(`echo ${how}`);
  if (how === 'stopped') {
    expect(answer).toMatchObject({ ok: true, delivered: false, deliverErr: expect.stringContaining('stopped') });
    expect(textsLike(how)).toEqual([]);
  }
  await up();
  await arrives(how);
  // A later message has gone all the way, so nothing of the earlier one is on its way any more.
  await inject(`echo after ${how.slice(0, 4)}`);
  await arrives(`after ${how.slice(0, 4)}`);
  expect(textsLike(how)).toHaveLength(1);
});
