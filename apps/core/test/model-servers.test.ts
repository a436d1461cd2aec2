import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { BaseUrlSet, EngineView, OfferedModelServer } from '@svc/contract/engine.ts';
import type { CreateEngine, EngineProbe } from '@svc/engine-kit/engine.ts';
import { http } from '@svc/service-kit/builtin.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { listen } from '@svc/testing/listen.ts';
import { startFakeOllama } from '@svc/testing/model-server/fake-ollama.ts';
import { createScriptedEngine } from '@svc/testing/scripted-engine.ts';
import type { EngineId } from '../src/engine/load-engine.ts';
import { lookAtModelServer } from '../src/engine/look-at-model-server.ts';
import { createModelServers } from '../src/engine/model-servers.ts';
import { envelope, openTestCore } from './open-test-core.ts';

const probe = (fields: Partial<EngineProbe>): EngineProbe => ({
  installed: false,
  version: null,
  path: null,
  auth: 'none',
  ready: false,
  reason: 'It is not installed.',
  ...fields,
});

/** A core without a vendor's engine; `codex` sets whether that program is installed. */
async function open(url: string, codex: { installed: boolean } = { installed: false }) {
  const load = (id: EngineId): Promise<CreateEngine> =>
    Promise.resolve(({ baseUrl }) => ({
      ...createScriptedEngine(id),
      probe: () =>
        Promise.resolve(
          probe(
            id === 'codex'
              ? { installed: codex.installed, ready: baseUrl !== null, auth: baseUrl === null ? 'none' : 'local' }
              : {},
          ),
        ),
    }));
  const core = await openTestCore({ env: { SVC_MODEL_SERVERS: url }, loadEngine: load });
  onTestFinished(() => core.close());
  const engines = async () =>
    (await core.app.inject({ url: '/v2/engines' })).json() as {
      current: { id: string; model: string | null; why: string };
      engines: EngineView[];
      model_servers: OfferedModelServer[];
    };
  const setUrl = async (to: string) => {
    const answer = await core.app.inject({ method: 'POST', url: '/v2/engines/codex/base-url', payload: { url: to } });
    return { status: answer.statusCode, body: answer.json() as BaseUrlSet & { message: string } };
  };
  return { core, engines, setUrl };
}

const ollama = async (options?: Parameters<typeof startFakeOllama>[0]) => {
  const server = await startFakeOllama(options);
  onTestFinished(() => server.close().catch(() => undefined));
  return server;
};

test('a model server is listed with its chat models and the command that connects it, before codex is installed', async () => {
  const { url } = await ollama();
  const { engines } = await open(url);
  const { current, model_servers } = await engines();
  expect(model_servers).toEqual([
    {
      name: 'Ollama',
      base_url: url,
      models: ['llama3.2:3b'],
      responses: true,
      connect: './svc engine install codex',
      note: expect.any(String),
    },
  ]);
  expect(current).toMatchObject({ id: 'offline', why: expect.stringContaining(`Ollama answers at ${url}`) });
});

test('a model server is used when it starts, and dropped when it ends, without a restart', async () => {
  const [port = 0] = await freePorts(1);
  const { core, engines } = await open(`http://127.0.0.1:${port}/v1`, { installed: true });
  expect(await engines()).toMatchObject({ current: { id: 'offline' }, model_servers: [] });
  core.context.watchModelServers();
  const server = await ollama({ port });
  await expect
    .poll(async () => (await engines()).current, { interval: 500 })
    .toMatchObject({ id: 'codex', model: 'llama3.2:3b' });
  expect((await engines()).model_servers).toMatchObject([{ connect: null, note: 'Used through codex.' }]);
  expect((await core.handle(envelope('hi'))).json()).toMatchObject({ engine_id: 'codex' });
  await server.close();
  await expect.poll(async () => (await engines()).current.id, { interval: 500 }).toBe('offline');
  const codes = core.telemetry.events
    .filter(({ kind }) => kind === 'engine')
    .map(({ payload }) => (payload as { code?: string }).code);
  expect(codes).toEqual(['model_server_appeared', 'model_server_gone']);
});

test('a base URL is accepted together with the models it offers', async () => {
  const { url } = await ollama();
  const { setUrl } = await open('none', { installed: true });
  expect(await setUrl(url)).toMatchObject({
    status: 200,
    body: { models: ['llama3.2:3b'], warnings: [], engine: { base_url: url } },
  });
});

test('a server without the Responses protocol is refused as a base URL, and not used as a default', async () => {
  const { url } = await ollama({ responses: false });
  const { setUrl, engines } = await open(url, { installed: true });
  const { status, body } = await setUrl(url);
  expect(status).toBe(422);
  expect(body.message).toMatch(
    /answers, but has no \/responses \(404\)\. Codex needs the Responses protocol\. .*Update the server/,
  );
  expect(await engines()).toMatchObject({ current: { id: 'offline' }, model_servers: [{ responses: false, connect: null }] });
});

test('an address without a server or without chat models is accepted with a warning', async () => {
  const [port] = await freePorts(1);
  const { url } = await ollama({ models: [{ name: 'bge-m3', families: ['bert'] }] });
  const { setUrl, engines } = await open(url, { installed: true });
  expect(await engines()).toMatchObject({ current: { id: 'offline' }, model_servers: [{ models: [], connect: null }] });
  expect((await setUrl(`http://127.0.0.1:${port}/v1`)).body.warnings).toEqual([expect.stringContaining('Start the server')]);
  expect((await setUrl(url)).body.warnings).toEqual([expect.stringContaining('no chat model')]);
});

test('detection uses only free requests, and one request for an address that is no model server', async () => {
  const { url, requests } = await ollama();
  await lookAtModelServer(url, { timeoutMs: 20_000 });
  expect(requests.toSorted()).toEqual(['GET /api/tags', 'GET /api/v0/models', 'GET /v1/models', 'POST /v1/responses']);
  const asked: string[] = [];
  const website = await listen(
    http.createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.end('<html>');
    }),
    0,
  );
  onTestFinished(() => website.close());
  expect(await lookAtModelServer(`${website.url}/v1`, { timeoutMs: 20_000 })).toBeNull();
  expect(asked).toEqual(['GET /v1/models']);
});

test('a model that Ollama marks as an embedding model is not offered, whatever its name', async () => {
  const models = [
    { name: 'paraphrase', families: ['xlm-roberta-bert'] },
    { name: 'my-vectors', capabilities: ['embedding'] },
    { name: 'mine', capabilities: ['completion', 'tools'] },
  ];
  const { url } = await ollama({ models });
  expect(await lookAtModelServer(url, { timeoutMs: 20_000 })).toMatchObject({ models: ['mine'], others: 2 });
});

test('detection of any server response returns valid models or nothing', async () => {
  let body = '';
  const server = await listen(
    http.createServer((_request, response) => response.end(body)),
    0,
  );
  onTestFinished(() => server.close());
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.json(),
        fc.string(),
        fc.json().map((json) => `{"data":[${json}],"models":[${json}]}`),
      ),
      async (text) => {
        body = text;
        const found = await lookAtModelServer(`${server.url}/v1`, { timeoutMs: 20_000 });
        for (const id of found?.models ?? []) expect(id).toMatch(/^[A-Za-z0-9]/);
      },
    ),
    { numRuns: 60 },
  );
});

test('a server is dropped only after repeated failures, and not probed again within seconds', async () => {
  const clock = createFakeClock();
  const server = await startFakeOllama();
  const heard: string[] = [];
  const servers = createModelServers({
    places: [server.url],
    clock,
    log: { warn: () => undefined },
    onAppeared: () => heard.push('appeared'),
    onGone: () => heard.push('gone'),
  });
  await servers.list();
  const asked = server.requests.length;
  await servers.list();
  expect(server.requests).toHaveLength(asked);
  await server.close();
  for (const left of [1, 1, 0]) {
    clock.advance(5000);
    expect(await servers.list()).toHaveLength(left);
  }
  expect(heard).toEqual(['appeared', 'gone']);
});

test('a server with an unchanged list gets one request, and a full probe on a change or after a minute', async () => {
  const clock = createFakeClock();
  const server = await ollama();
  const servers = createModelServers({
    places: [server.url],
    clock,
    log: { warn: () => undefined },
    onAppeared: () => undefined,
    onGone: () => undefined,
  });
  const askedIn = async (ms: number) => {
    clock.advance(ms);
    server.requests.length = 0;
    const found = await servers.list();
    expect(found).toMatchObject([{ name: 'Ollama', responses: true }]);
    return { asked: server.requests.length, models: found[0]?.models };
  };
  expect(await askedIn(0)).toEqual({ asked: 4, models: ['llama3.2:3b'] });
  expect(await askedIn(15_000)).toEqual({ asked: 1, models: ['llama3.2:3b'] });
  server.models.push({ name: 'qwen3:8b' });
  expect(await askedIn(15_000)).toEqual({ asked: 4, models: ['llama3.2:3b', 'qwen3:8b'] });
  expect((await askedIn(59_000)).asked).toBe(1);
  expect((await askedIn(5000)).asked).toBe(4);
});

test('a failed check is logged, and the next check works', async () => {
  const clock = createFakeClock();
  const server = await ollama();
  const warned = Promise.withResolvers<object>();
  const appeared: string[] = [];
  const servers = createModelServers({
    places: [server.url],
    clock,
    log: { warn: (fields: object) => warned.resolve(fields) } as never,
    onAppeared: ({ name }) => {
      appeared.push(name);
      throw new Error('no room for the event');
    },
    onGone: () => undefined,
  });
  servers.watch(() => undefined);
  onTestFinished(() => servers.close());
  clock.advance(15_000);
  expect(await warned.promise).toMatchObject({ err: new Error('no room for the event') });
  clock.advance(15_000);
  expect(await servers.list()).toMatchObject([{ name: 'Ollama' }]);
  expect(appeared).toEqual(['Ollama']);
});
