import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Instance } from '@svc/contract/instance.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { openHouse, waitFor, type House } from '@svc/testing/house.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { newConnector } from '../../apps/cli/src/connector/own-connector.ts';
import { root } from '../repository.ts';
import { signalProcess } from '@svc/service-kit/process/signal-process.ts';

type Inject = { ok: boolean; reply: string; delivered: boolean; deliverErr: string | null };
type Posted = { id: string; user: string; text: string };

const folder = temporaryFolder();
const posted: Posted[] = [];
let channel: Server;
let house: House;

/** The service with one instance of a connector from the template, whose channel is a server of this test. */
beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  channel = createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (text: string) => (body += text));
    req.on('end', () => {
      posted.push(JSON.parse(body) as Posted);
      res.end();
    });
  });
  await new Promise<void>((resolve) => channel.listen(port, '127.0.0.1', resolve));
  const parent = path.join(folder.path, 'connectors');
  mkdirSync(parent, { mode: 0o700 });
  newConnector({ name: 'shop', parent, root });
  writeFileSync(path.join(folder.path, 'secrets.json'), '{"SHOP_TOKEN":"a-long-token-of-the-shop"}', { mode: 0o600 });
  const ann = { key: 'ann', role: 'known', identifiers: [{ surface: 'shop', value: 'ann' }] };
  writeFileSync(path.join(folder.path, 'trust.seed.json'), JSON.stringify({ principals: [ann] }));
  house = await openHouse({ dataDir: folder.path });
  const config = { token_secret_key: 'SHOP_TOKEN', callback_url: `http://127.0.0.1:${port}/` };
  await house.post(`${house.urls.manager}/instances`, { type: 'shop', name: 'Shop', enabled: true, config });
});
afterAll(async () => {
  await house.stop();
  channel.close();
  folder.remove();
});

const change = (action: string) => house.post(`${house.urls.manager}/instances/shop/${action}`);
const shop = async () => (await house.get<{ instance: Instance }>(`${house.urls.manager}/instances/shop`)).instance;
const inject = async (text: string) =>
  (await house.post<Inject>(`${house.urls.core}/v2/inject`, { conversation_key: 'shop:shop:user:ann', text })).body;
const textsLike = (word: string) => posted.filter(({ text }) => text.includes(word));
const arrives = (word: string) =>
  waitFor(
    () => textsLike(word).length > 0,
    20_000,
    () => `"${word}" did not arrive: ${house.output()}`,
  );

test('an operator’s words are answered over the instance that the conversation is on', async () => {
  const { url } = await shop();
  const token = new Secret('a-long-token-of-the-shop');
  const { body } = await requestJson(`${url}/message`, { body: { user: 'ann', text: 'echo hello' }, token, timeoutMs: 40_000 });
  expect(body).toMatchObject({ outcome: 'replied' });
  expect(posted).toEqual([]);
  expect(await inject('echo first')).toMatchObject({ ok: true, delivered: true, deliverErr: null });
  expect(textsLike('first')).toEqual([{ id: expect.any(String), user: 'ann', text: expect.any(String) }]);
});

test.each([
  ['stopped', () => change('stop'), () => change('start')],
  [
    'killed and being started again',
    async () => {
      const { pid } = await shop();
      signalProcess(pid, 'SIGKILL');
    },
    () => Promise.resolve(),
  ],
])('while the instance is %s, the reply is kept and delivered once, when it is back', async (how, down, up) => {
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
