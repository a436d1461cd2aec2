import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startRecordingProxy } from '@svc/testing/start-recording-proxy.ts';
import { startHttpToolServer } from '@svc/testing/tool-server/start-http-tool-server.ts';
import type { ScriptedStep } from '@svc/testing/model-server/scripted-reply.ts';
import type { Engine, EngineRequest, ToolServer } from '../engine.ts';
import { collectTurn, ofType } from './collect-turn.ts';
import { hello, type EngineBench } from './engine-bench.ts';
import { engineRequest } from './engine-request.ts';

export type EngineTools = {
  /** The model's name of a tool server's tool. */
  toolName(server: string, tool: string): string;
  /** Longest delay of a turn by tool servers that do not start, ms. */
  holdUpMs: number;
  /** Models that get their tools in different ways; each is tested. */
  models?: readonly string[];
  /** The delay is too long for the everyday tests. */
  isLong?: true;
};

const program = path.resolve(import.meta.dirname, '../../../testing/src/tool-server/stdio-tool-server.ts');
const secret = 'GIVEN-$ECRET-4711';

/** A real tool server, as a program that the engine starts. */
const stdioServer = (name: string, args: string[] = []): ToolServer => ({
  name,
  type: 'stdio',
  command: process.execPath,
  args: [program, ...args],
  env: { GIVEN_VALUE: secret },
  safe: true,
});

/** Rules for real tool servers on every engine. Call it in a `describe`. */
export async function testEngineTools(
  { model, start }: EngineBench,
  { toolName, holdUpMs, isLong, models }: EngineTools,
): Promise<void> {
  const remote = await startHttpToolServer();
  const hanging = await startHttpToolServer({ hangs: true });
  afterAll(() => Promise.all([remote.close(), hanging.close()]));
  const httpServer = (name: string, url = remote.url): ToolServer => ({
    name,
    type: 'http',
    url,
    headers: { authorization: `Bearer ${secret}` },
    safe: true,
  });
  const order = (server: string, tool = 'echo', text = 'ping'): ScriptedStep => ({
    tool: toolName(server, tool),
    input: tool === 'echo' ? { text } : {},
  });

  /** A turn in which the model calls these tools, one per request. `onRequest` is called for each request. */
  const turn = async (
    engine: Engine,
    orders: readonly ScriptedStep[],
    fields: Partial<EngineRequest> & { cwd: string },
    onRequest = () => {},
  ) => {
    model.requests.length = 0;
    const replies = [...orders.map((step) => ({ steps: [step] })), hello];
    model.script(() => {
      onRequest();
      return replies.shift();
    });
    const turned = await collectTurn(engine, engineRequest({ prompt: 'go', ...fields }));
    expect(turned.last, JSON.stringify(turned.events)).toEqual({ type: 'done' });
    return {
      ...turned,
      results: ofType(turned.events, 'tool_result'),
      missing: ofType(turned.events, 'notice').filter((notice) => notice.code === 'tool_server_missing'),
      offered: model.requests[0]?.tools.map(({ name }) => name) ?? [],
    };
  };

  test('a tool server that is a program and one over HTTP are both called in the turn, with what they were given and nothing else, which shows in no list of processes', async () => {
    const env = {
      PATH: process.env.PATH,
      ANTHROPIC_API_KEY: 'k1',
      OPENAI_API_KEY: 'k2',
      GEMINI_API_KEY: 'k3',
      SVC_MANAGER_TOKEN: 'k4',
    };
    const { engine, request } = start({ env });
    remote.calls.length = 0;
    const toolServers = [stdioServer('local'), httpServer('remote')];
    const orders = [order('local'), order('remote'), order('local', 'env')];
    let commandLines: string[] = [];
    const { results, missing } = await turn(engine, orders, { ...request, toolServers }, () => {
      commandLines = allCommandLines();
    });
    expect(missing).toEqual([]);
    expect(results.map(({ ok }) => ok)).toEqual([true, true, true]);
    for (const { output } of results.slice(0, 2)) expect(output).toContain('echo:ping');
    expect(remote.calls).toEqual([{ text: 'ping' }]);
    expect(new Set(remote.authorizations)).toEqual(new Set([`Bearer ${secret}`]));

    const names = (results[2]?.output ?? '').split('\n');
    expect(names).toContain(`GIVEN_VALUE=${secret}`);
    expect(names).toContain('PATH');
    expect(names.filter((name) => /KEY|TOKEN|SECRET|CREDENTIAL/.test(name) && !name.startsWith('GIVEN_'))).toEqual([]);

    expect(commandLines.some((line) => line.includes('stdio-tool-server.ts'))).toBe(true);
    expect(commandLines.filter((line) => line.includes('4711'))).toEqual([]);
  });

  test('whatever a tool server is called, its tools are offered and it is not said to be missing', async () => {
    const { engine, request } = start();
    const names = ['mcp_files', `${'long-'.repeat(12)}name`, 'a__b', '-x', '_x', '1st'];
    const toolServers = names.map((name) => httpServer(name));
    const { missing, offered } = await turn(engine, [], { ...request, toolServers });
    expect(missing).toEqual([]);
    expect(offered.filter((tool) => tool.endsWith('echo'))).toHaveLength(names.length);
  });

  test('a proxy sees no tool server and no model on this machine, whatever the operator excepts from it', async () => {
    const proxy = await startRecordingProxy();
    onTestFinished(() => proxy.close());
    // Each name alone, and without one: `engine-env.test.ts`.
    for (const except of [{}, { NO_PROXY: 'intranet.example', no_proxy: 'a.example, b.example' }]) {
      const env = Object.fromEntries(
        ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'].map((name) => [name, proxy.url]),
      );
      const { engine, stateDir, request } = start({ env: { PATH: process.env.PATH, ...env, ...except } });
      remote.calls.length = 0;
      await turn(engine, [order('remote')], { ...request, toolServers: [httpServer('remote')] });
      expect(remote.calls, stateDir).toEqual([{ text: 'ping' }]);
      expect(proxy.asked.filter((target) => /127\.0\.0\.1|localhost|\[?::1/.test(target))).toEqual([]);
      expect(proxy.heard()).not.toContain(secret);
    }
  });

  test('a tool server that takes a while to come up is there in each conversation', async () => {
    const { engine, request } = start();
    const toolServers = [stdioServer('late', ['slow', '2500'])];
    for (const conversationKey of process.env.TEST_DEEP ? ['c1', 'c2', 'c3', 'c4', 'c5'] : ['c1', 'c2']) {
      const { results, missing, offered } = await turn(engine, [order('late')], { ...request, conversationKey, toolServers });
      expect(offered).toContain(toolName('late', 'echo'));
      expect(results.map(({ output }) => output)).toEqual([expect.stringContaining('echo:ping')]);
      expect(missing).toEqual([]);
    }
  }, 120_000);

  test.each(models ?? [])('the model %s is offered the tools of a tool server', async (model) => {
    const { engine, request } = start();
    remote.calls.length = 0;
    await turn(engine, [order('remote')], { ...request, model, toolServers: [httpServer('remote')] });
    expect(remote.calls).toEqual([{ text: 'ping' }]);
  });

  test('a tool server that is new is there in the next turn of a conversation, and gone in the one after it was removed', async () => {
    const { engine, request } = start();
    const first = await turn(engine, [], request);
    const resume = first.sessionId;
    const second = await turn(engine, [order('local')], { ...request, resume, toolServers: [stdioServer('local')] });
    expect(second.sessionId).toBe(resume);
    expect(second.results.map(({ output }) => output)).toEqual([expect.stringContaining('echo:ping')]);
    remote.calls.length = 0;
    const third = await turn(engine, [order('local'), order('remote')], {
      ...request,
      resume,
      toolServers: [httpServer('remote')],
    });
    expect(third.offered).not.toContain(toolName('local', 'echo'));
    expect(third.results.filter(({ ok }) => ok)).toHaveLength(1);
    expect(remote.calls).toHaveLength(1);
  });

  test('a tool server that was away is there again in the turn after it came back', async () => {
    const { engine, request } = start();
    const gone = await startHttpToolServer();
    await gone.close();
    const toolServers = [httpServer('flaky', gone.url)];
    const first = await turn(engine, [], { ...request, toolServers });
    expect(first.missing).toMatchObject([{ toolServer: 'flaky' }]);
    const back = await startHttpToolServer({ port: Number(new URL(gone.url).port) });
    onTestFinished(() => back.close());
    const second = await turn(engine, [order('flaky')], { ...request, resume: first.sessionId, toolServers });
    expect(second.missing).toEqual([]);
    expect(back.calls).toEqual([{ text: 'ping' }]);
  });

  test('tool servers that are broken, hang or never come up hold up a turn for a bounded time, are named in notices, and the others work', async ({
    skip,
  }) => {
    skip(isLong === true && !process.env.TEST_DEEP, 'it takes two minutes: ./svc test --deep');
    const { engine, request } = start();
    const toolServers = [
      stdioServer('broken', ['broken']),
      stdioServer('never', ['never']),
      httpServer('hanging', hanging.url),
      { ...stdioServer('nowhere'), command: '/nowhere/at-all' },
      stdioServer('fine'),
    ];
    let before = performance.now();
    const first = await turn(engine, [order('fine')], { ...request, toolServers });
    expect(performance.now() - before).toBeLessThan(holdUpMs);
    const wrong = ['broken', 'hanging', 'never', 'nowhere'];
    const told = ({ missing }: typeof first) => missing.map(({ toolServer }) => toolServer).toSorted();
    expect(told(first), JSON.stringify(first.missing)).toEqual(wrong);
    expect(first.results.map(({ output }) => output)).toEqual([expect.stringContaining('echo:ping')]);
    before = performance.now();
    const second = await turn(engine, [order('fine')], { ...request, resume: first.sessionId, toolServers });
    expect(performance.now() - before).toBeLessThan(holdUpMs);
    expect(told(second), JSON.stringify(second.missing)).toEqual(wrong);
    expect(second.results.map(({ output }) => output)).toEqual([expect.stringContaining('echo:ping')]);
  }, 240_000);
}

const allCommandLines = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return ''; // it has ended meanwhile
      }
    });
