import { fork } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { forkConnector, type ForkedConnector } from '../src/testing/fork-connector.ts';
import { startLinkServer } from '../src/testing/link-server.ts';

const entry = path.join(import.meta.dirname, 'fixtures/scripted-connector.ts');

describe('connector process', () => {
  let folder: TemporaryFolder;
  const forks: ForkedConnector[] = [];
  beforeEach(() => (folder = temporaryFolder()));
  afterEach(async () => {
    for (const forked of forks.splice(0)) {
      forked.kill();
      await forked.exit;
    }
    folder.remove();
  });
  const start = (config: Record<string, unknown> = {}, more: object = {}) => {
    const forked = forkConnector({ entry, dataDir: folder.path, config, ...more });
    forks.push(forked);
    return forked;
  };
  const logOf = (forked: ForkedConnector) =>
    forked
      .output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  test('reports readiness, its address and a heartbeat', async () => {
    const forked = start();
    await expect(forked.message('ready')).resolves.toEqual({
      type: 'ready',
      port: 4242,
      url: 'http://127.0.0.1:4242',
      outboundPort: null,
    });
    await forked.message('heartbeat');
    // The log and the messages arrive on separate channels, in any order.
    await expect.poll(() => forked.output()).toMatch(/\n$/);
    expect(logOf(forked)[0]).toMatchObject({
      level: 'info',
      service: 'scripted',
      instance: 'inst_1',
      msg: 'ready',
      time: expect.any(Number),
    });
  });

  test('sends heartbeats while it is healthy', async () => {
    const forked = start({}, { heartbeatMs: 20 });
    await vi.waitFor(() => expect(forked.messages.filter(({ type }) => type === 'heartbeat').length).toBeGreaterThan(3), {
      timeout: 40_000,
    });
  });

  test('sends no heartbeats while it is unhealthy, and logs the reason', async () => {
    const forked = start({ on: 'unhealthy' }, { heartbeatMs: 20 });
    await expect.poll(() => forked.output().match(/the channel is away/g)?.length).toBeGreaterThan(3);
    expect(forked.messages.map(({ type }) => type)).not.toContain('heartbeat');
    expect(forked.messages.filter(({ type }) => type === 'problem')).toEqual([{ type: 'problem', text: 'the channel is away' }]);
  });

  test('passes telemetry to the manager', async () => {
    await expect(start().message('emit')).resolves.toEqual({
      type: 'emit',
      event: { kind: 'instance', text: 'A test fixtures' },
    });
  });

  test.each([
    [{ value: 'hunter2', error: null }, 'got 7 characters'],
    [{ value: null, error: 'There is no secret "TOKEN".' }, 'There is no secret "TOKEN".'],
  ])('asks the manager for a secret: %j', async (answer, text) => {
    const forked = start({ secret: 'TOKEN' });
    const request = await forked.message('secret');
    expect(request.name).toBe('TOKEN');
    forked.send({ type: 'secret', requestId: request.requestId, ...answer });
    await forked.message('ready');
    expect(forked.messages).toContainEqual({ type: 'emit', event: { kind: 'instance', text } });
    expect(forked.output()).not.toContain('hunter2');
  });

  test("adds the instance's intake to its envelopes", async () => {
    const core = await startLinkServer(path.join(folder.path, 'core.sock'), (call) =>
      call.reply({ result: { actions: [], outcome: 'silent', conversation_key: 'k', turn_id: 't' } }),
    );
    try {
      await start({ ask: 'hello', debounce_ms: 800, pairing: true }).message('ready');
      expect(core.calls[0]?.request).toMatchObject({ envelope: { intake: { debounce_ms: 800, pairing: true } } });
    } finally {
      await core.stop();
    }
  });

  test('uploads a file to the core that the start message names', async () => {
    let body = '';
    const core = createHttpServer((req, res) => {
      req.setEncoding('utf8').on('data', (text: string) => (body += `${req.url} ${text}`));
      req.on('end', () => res.end(JSON.stringify({ ok: true, file: { path: '/uploads/note.txt' } })));
    });
    await new Promise<void>((resolve) => core.listen(0, '127.0.0.1', resolve));
    const coreUrl = `http://127.0.0.1:${(core.address() as AddressInfo).port}`;
    try {
      const forked = start({ save: 'hello' }, { coreUrl });
      await forked.message('ready');
      expect(forked.messages).toContainEqual({ type: 'emit', event: { kind: 'instance', text: '/uploads/note.txt' } });
      expect(body).toBe('/v2/upload?filename=note.txt&mime=text%2Fplain hello');
    } finally {
      core.close();
    }
  });

  test('receives the frames of a streamed answer', async () => {
    const core = await startLinkServer(path.join(folder.path, 'core.sock'), (call) =>
      call.reply(
        { frame: { type: 'thinking', text: 'hm' } },
        { frame: { type: 'tool', id: '1', name: 'look', input: {} } },
        { frame: { type: 'delta', text: 'he' } },
        { frame: { type: 'segment', text: 'hello' } },
        { result: { actions: [{ type: 'reply', text: 'hello' }], outcome: 'replied', conversation_key: 'k', turn_id: 't' } },
      ),
    );
    try {
      const forked = start({ stream: 'hi' });
      await forked.message('ready');
      const text = 'thinking hm, tool look, delta he, segment hello, hello';
      expect(forked.messages).toContainEqual({ type: 'emit', event: { kind: 'instance', text } });
    } finally {
      await core.stop();
    }
  });

  test('resolves a sender in the core', async () => {
    const core = await startLinkServer(path.join(folder.path, 'core.sock'), (call) =>
      call.reply({ identity: { display_name: 'Ann', trust_tier: 'KNOWN' } as never }),
    );
    try {
      const forked = start({ resolve: 'ann' });
      await forked.message('ready');
      expect(core.calls[0]?.request).toMatchObject({ op: 'resolve', envelope: { sender: { raw_id: 'ann' } } });
      expect(forked.messages).toContainEqual({ type: 'emit', event: { kind: 'instance', text: 'Ann KNOWN' } });
    } finally {
      await core.stop();
    }
  });

  test('lets a connector send heartbeats itself, also before it is ready', async () => {
    const forked = start({ on: 'beats' });
    await forked.message('ready');
    const types = forked.messages.map(({ type }) => type);
    expect(types.indexOf('heartbeat')).toBeLessThan(types.indexOf('ready'));
    expect(types).toContain('heartbeat');
  });

  test("uses the service's connector kit instead of a copy beside a third-party connector", async () => {
    const dir = path.join(folder.path, 'foreign');
    const copy = path.join(dir, 'node_modules/@svc/connector-kit');
    mkdirSync(copy, { recursive: true });
    writeFileSync(path.join(copy, 'package.json'), '{"name":"@svc/connector-kit","exports":"./index.js","type":"module"}');
    writeFileSync(path.join(copy, 'index.js'), 'export class ServiceError extends Error {}');
    writeFileSync(
      path.join(dir, 'index.mjs'),
      `import { ServiceError, splitMessage } from '@svc/connector-kit';
       export async function start(ctx) {
         ctx.emit({ kind: 'instance', text: new ServiceError('busy', 'x').status + splitMessage('ab', 2).join() });
         return { async stop() {}, health: () => ({ healthy: true }) };
       }`,
    );
    const forked = start({}, { entry: path.join(dir, 'index.mjs') });
    await forked.message('ready');
    expect(forked.messages).toContainEqual({ type: 'emit', event: { kind: 'instance', text: '429ab' } });
  });

  test.each([
    ['a stop message', (forked: ForkedConnector) => forked.send({ type: 'stop' })],
    ['SIGTERM', (forked: ForkedConnector) => void forked.child.kill('SIGTERM')],
    ['the end of its manager', (forked: ForkedConnector) => forked.child.disconnect()],
  ])('stops in order on %s', async (_what, end) => {
    const forked = start();
    await forked.message('ready');
    end(forked);
    await expect(forked.exit).resolves.toEqual({ code: 0, signal: null });
    expect(logOf(forked).map(({ msg }) => msg)).toEqual(['ready', 'stopping', 'the signal came', 'stopped in order']);
  });

  test('exits when its manager disconnects before the start', async () => {
    const child = fork(path.join(import.meta.dirname, '../src/child-main.ts'), [], { stdio: 'ignore', execArgv: [] });
    const exit = new Promise((resolve) => child.once('exit', resolve));
    child.disconnect();
    await expect(exit).resolves.toBe(0);
  });

  test.each(['stop-hangs', 'start-hangs'])('exits at the deadline: %s', async (on) => {
    const forked = start({ on }, { stopTimeoutMs: 200 });
    if (on === 'stop-hangs') await forked.message('ready');
    forked.send({ type: 'stop' });
    await expect(forked.exit).resolves.toEqual({ code: 1, signal: null });
    expect(forked.output()).toMatch(/did not stop in time/);
  });

  test('stops in order when asked to during the start, without reporting a failure', async () => {
    const forked = start({ on: 'start-called-off' });
    await forked.message('heartbeat');
    forked.send({ type: 'stop' });
    await expect(forked.exit).resolves.toEqual({ code: 0, signal: null });
    expect(forked.output()).not.toContain('could not start');
  });

  test('exits with an error when stopping fails', async () => {
    const forked = start({ on: 'stop-fails' });
    await forked.message('ready');
    forked.send({ type: 'stop' });
    await expect(forked.exit).resolves.toEqual({ code: 1, signal: null });
  });

  test('reports why it cannot start', async () => {
    const forked = start({ on: 'start-fails' });
    await expect(forked.message('failed')).resolves.toEqual({ type: 'failed', message: 'The token is wrong. Make a new one.' });
    await expect(forked.exit).resolves.toEqual({ code: 1, signal: null });
  });

  test.each(['starts-nothing', 'has-no-health'])('reports what a connector must return: %s', async (on) => {
    const forked = start({ on });
    await expect(forked.message('failed')).resolves.toMatchObject({ message: expect.stringContaining('{ stop, health }') });
  });

  test('names the port that is in use', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const { port } = holder.address() as AddressInfo;
    const forked = start({ port });
    await expect(forked.message('failed')).resolves.toMatchObject({ message: expect.stringContaining(`Port ${port} is in use`) });
    await forked.exit;
    holder.close();
  });

  test('reports code that cannot be loaded', async () => {
    const forked = start({}, { entry: path.join(folder.path, 'nothing.ts') });
    await expect(forked.message('failed')).resolves.toMatchObject({ message: expect.stringContaining('nothing.ts') });
  });

  test.each(['throws-later', 'rejects-later'])('logs an uncaught error and exits: %s', async (on) => {
    const forked = start({ on });
    await expect(forked.exit).resolves.toEqual({ code: 1, signal: null });
    expect(logOf(forked).at(-1)).toMatchObject({
      level: 'fatal',
      error: expect.stringMatching(/nobody caught/),
      stack: expect.any(String),
    });
  });
});
