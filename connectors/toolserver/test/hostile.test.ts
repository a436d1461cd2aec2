import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, statSync } from 'node:fs';
import type { Agent, IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { systemClock } from '@svc/connector-kit';
import type { Network } from '@svc/connector-kit/fetch-public/public-network.ts';
import { http } from '@svc/service-kit/builtin.ts';
import { isPublicAddress } from '@svc/service-kit/http/public-address.ts';
import { listen } from '@svc/testing/listen.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createStoredModels } from '../src/oauth/stored-models.ts';
import type { ClientsFile } from '../src/people/clients-file.ts';
import { authorizeUrl, codeFor, listTools, redeem, refresh, register, registered } from './authorize.ts';
import { openBrowser } from './browser.ts';
import { callback } from './oauth-client.ts';
import { openToolserver, type OpenToolserver } from './open-toolserver.ts';

const address = 'https://client.example/client.json';

describe('client metadata document', () => {
  const seen = (server: OpenToolserver, id: string) => openBrowser().open(authorizeUrl(server, { id }));

  test.each([
    'https://127.0.0.1/client.json',
    'https://localhost/client.json',
    'https://[::1]/client.json',
    'https://[::ffff:127.0.0.1]/client.json',
    'https://2130706433/client.json',
    'https://10.1.2.3/client.json',
    'https://169.254.169.254/latest/meta-data',
    'https://name-that-leads-here.example/client.json',
  ])('is not fetched from an address of this network: %s', async (id) => {
    const asked: string[] = [];
    const network: Network = {
      isAllowed: isPublicAddress,
      resolve: async (host) => [isIP(host) === 0 ? { address: '127.0.0.1', family: 4 } : { address: host, family: isIP(host) }],
      request: (url) => {
        asked.push(url.href);
        throw new Error('It was asked for.');
      },
    };
    const page = await seen(await openToolserver({ network }), id);
    expect([page.status, page.text.includes('<form'), asked]).toEqual([400, false, []]);
  });

  const document = { client_id: address, client_name: 'A client', redirect_uris: [callback], token_endpoint_auth_method: 'none' };
  const json = { 'content-type': 'application/json' };
  type Answer = (request: IncomingMessage, response: ServerResponse) => void;
  test.each<{ what: string; answer: Answer }>([
    { what: 'sends on to another place', answer: (_, to) => to.writeHead(302, { location: 'https://127.0.0.1/' }).end() },
    {
      what: 'is larger than 5 KB',
      answer: (_, to) => to.writeHead(200, json).end(JSON.stringify({ ...document, x: 'x'.repeat(6000) })),
    },
    { what: 'is a page', answer: (_, to) => to.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>') },
    {
      what: 'is called a page, though it would be right',
      answer: (_, to) => to.writeHead(200, { 'content-type': 'text/html' }).end(JSON.stringify(document)),
    },
    {
      what: 'is of another client',
      answer: (_, to) => to.writeHead(200, json).end(JSON.stringify({ ...document, client_id: `${address}2` })),
    },
    { what: 'breaks off', answer: (_, to) => to.writeHead(200, { ...json, 'content-length': '999' }).write('{') && to.destroy() },
    { what: 'is not there', answer: (_, to) => to.writeHead(404, json).end(JSON.stringify(document)) },
    {
      what: 'leads to a script',
      answer: (_, to) => to.writeHead(200, json).end(JSON.stringify({ ...document, redirect_uris: ['javascript:alert(1)'] })),
    },
  ])('is rejected when it $what', async ({ answer }) => {
    const page = await seen(await openToolserver({ network: await networkOf(answer) }), address);
    expect([page.status, page.text.includes('<form')]).toEqual([400, false]);
  });

  test('that arrives a byte at a time is aborted, and blocks no other client', async () => {
    const asked = Promise.withResolvers<void>();
    const network = await networkOf((_, to) => {
      to.writeHead(200, json);
      const drip = setInterval(() => to.write(' '), 50);
      to.on('close', () => clearInterval(drip));
      asked.resolve();
    });
    const server = await openToolserver({ network });
    const page = seen(server, address);
    await asked.promise;
    const other = await registered(server);
    const { status } = await redeem(server, other, await codeFor(server, other));
    const first = await Promise.race([page, Promise.resolve('still waits')]);
    expect([status, first, (await page).status]).toEqual([200, 'still waits', 400]);
  });

  test('that cannot be fetched signs out no approved client, also after a restart', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    let isThere = true;
    const network = await networkOf((_, to) =>
      isThere ? to.writeHead(200, json).end(JSON.stringify(document)) : to.writeHead(503).end(),
    );
    const server = await openToolserver({ network });
    const client = { id: address };
    let { body } = await redeem(server, client, await codeFor(server, client));
    const renew = async () => {
      vi.setSystemTime(Date.now() + 60 * 60_000);
      const renewed = await refresh(server, client, body.refresh_token ?? '');
      ({ body } = renewed);
      return [renewed.status, body.error];
    };
    isThere = false;
    expect(await renew()).toEqual([200, undefined]);
    isThere = true;
    expect(await renew()).toEqual([200, undefined]);
    isThere = false;
    await server.restart();
    expect(await renew()).toEqual([200, undefined]);
    await server.live().call!('', 'revoke', { client_id: address }, new AbortController().signal);
    vi.setSystemTime(Date.now() + 60 * 60_000); // the library keeps it for half a minute
    expect((await seen(server, address)).status).toBe(400);
  });

  test('is accepted when it is valid', async () => {
    const network = await networkOf((_, to) => to.writeHead(200, json).end(JSON.stringify(document)));
    const page = await seen(await openToolserver({ network }), address);
    expect([page.status, page.text.includes('A client')]).toEqual([200, true]);
  });
});

/** A network on which the test answers at every address. */
async function networkOf(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Network> {
  const server = http.createServer(answer);
  const listening = await listen(server);
  onTestFinished(() => listening.close());
  const { port } = server.address() as { port: number };
  return {
    isAllowed: () => true,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    request: (url, options, onResponse) =>
      http.request({ ...options, host: '127.0.0.1', port, path: url.pathname, lookup: undefined }, onResponse),
  };
}

describe('hostile requests', () => {
  const bad = { nul: '%00', 'half a character': '%ED%A0%80', 'a broken escape': '%zz', megabytes: 'x'.repeat(3_000_000) };
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const routes = {
    'an authorization': (value: string) => [`/oauth/authorize?client_id=${value}&redirect_uri=${value}&scope=${value}`, {}],
    'a page': (value: string) => [`/oauth/authorize/${value}`, {}],
    'an approval': (value: string) => [
      '/oauth/approve',
      { method: 'POST', headers: form, body: `form_key=${value}&code=${value}` },
    ],
    'a token': (value: string) => [
      '/oauth/token',
      { method: 'POST', headers: form, body: `grant_type=${value}&code=${value}&client_id=${value}` },
    ],
    'a revocation': (value: string) => [
      '/oauth/revoke',
      { method: 'POST', headers: form, body: `token=${value}&client_id=${value}` },
    ],
    'a registration': (value: string) => [
      '/oauth/register',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"redirect_uris":["${value}"],"client_name":"${value}"}`,
      },
    ],
    'a call': (value: string) => [
      '/mcp',
      { method: 'POST', headers: { authorization: `Bearer ${value.slice(0, 9000)}` }, body: value },
    ],
    'a message': (value: string) => [`/message?sessionId=${value.slice(0, 9000)}`, { method: 'POST', body: value }],
  } satisfies Record<string, (value: string) => [string, RequestInit]>;

  test.each(Object.entries(routes))(
    '%s with malformed or oversized values is rejected, and the server keeps running',
    async (_name, ask) => {
      const server = await openToolserver();
      for (const value of Object.values(bad)) {
        const [route, init] = ask(value);
        // A request that is too long may be cut off before the response is read.
        const status = await fetch(new URL(route, server.url), { redirect: 'manual', ...init }).then(
          (answer) => answer.status,
          () => 413,
        );
        expect(status).toBeGreaterThanOrEqual(400);
        expect(status).toBeLessThan(500);
      }
      expect((await fetch(new URL('/health', server.url))).status).toBe(200);
    },
  );

  test('a thousand authorizations at once are answered or limited with 429', async () => {
    const server = await openToolserver();
    const client = await registered(server);
    const url = authorizeUrl(server, client);
    const statuses = await Promise.all(
      Array.from({ length: 1000 }, async () => (await fetch(url, { redirect: 'manual' })).status),
    );
    expect(new Set(statuses)).toEqual(new Set([303, 429]));
  });

  test('a flood of registrations stores at most 20, and the approved client stays', async () => {
    const server = await openToolserver();
    const count = Number(process.env['TOOLSERVER_REGISTRATIONS'] ?? 500);
    const client = await registered(server);
    const { body } = await redeem(server, client, await codeFor(server, client));
    let kept = 1;
    for (let sent = 0; sent < count; sent += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => register(server)));
      kept += answers.filter(({ status }) => status === 201).length;
    }
    expect(kept).toBeLessThanOrEqual(20);
    expect((await listTools(server, body.access_token)).status).toBe(200);
    expect(sizeOf(server.dir)).toBeLessThan(512 * 1024);
  });

  test('old registrations make room for new ones, but approved clients stay', async () => {
    const server = await openToolserver();
    const client = await registered(server);
    const { body } = await redeem(server, client, await codeFor(server, client));
    // The cast: the test needs no clients of the operator's file.
    const clients = { find: () => null, list: () => [], problem: () => null } as unknown as ClientsFile;
    const models = createStoredModels({ state: server.context.state, clients, clock: systemClock });
    for (let n = 0; n < 210; n++)
      await models.adapterOf('Client').upsert(`old-${n}`, { client_id: `old-${n}`, redirect_uris: [callback] } as never, 0);
    for (let n = 0; n < 15; n++) expect((await register(server)).status).toBe(201);
    const ids = await models.clientIds();
    expect([ids.includes(client.id), ids.length <= 212]).toEqual([true, true]);
    expect((await listTools(server, body.access_token)).status).toBe(200);
  });
});

/** The bytes of all files in a folder. */
const sizeOf = (dir: string): number =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0);

test('does not limit the number of requests on a kept-alive connection', async () => {
  const server = await openToolserver();
  const client = await registered(server);
  const { body } = await redeem(server, client, await codeFor(server, client));
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const statuses = new Set<number | undefined>();
  for (let id = 0; id < 1_100; id++) statuses.add(await listOver(agent, server.url, body.access_token, id));
  expect(statuses).toEqual(new Set([200]));
});

const listOver = (agent: Agent, url: string, value: string, id: number) =>
  new Promise<number | undefined>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${value}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const request = http.request(new URL('/mcp', url), { agent, method: 'POST', headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    request.once('error', reject).end(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list', params: {} }));
  });

test('issued tokens survive a kill, and the code and refresh token already used stay invalid', async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const program = path.join(import.meta.dirname, 'fixtures/toolserver-process.ts');
  const child = spawn(process.execPath, [program, folder.path], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { url, approval } = JSON.parse(line) as { url: string; approval: string };
  // The cast: signing in needs these fields alone.
  const killed = { url, code: async () => approval } as OpenToolserver;

  const client = await registered(killed);
  const code = await codeFor(killed, client);
  const { body: first } = await redeem(killed, client, code);
  const { body: second } = await refresh(killed, client, first.refresh_token ?? '');
  child.kill('SIGKILL');
  await once(child, 'exit');

  const config = { port: Number(new URL(url).port) };
  const again = await openToolserver({ config, before: (dir) => cpSync(folder.path, dir, { recursive: true }) });
  for (const value of [first.access_token, second.access_token]) expect((await listTools(again, value)).status).toBe(200);
  expect((await refresh(again, client, second.refresh_token ?? '')).status).toBe(200);
  expect((await redeem(again, client, code)).body.error).toBe('invalid_grant');
  expect((await refresh(again, client, first.refresh_token ?? '')).body.error).toBe('invalid_grant');
});
