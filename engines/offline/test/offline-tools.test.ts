import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EngineRequest, ToolServer } from '@svc/engine-kit/engine.ts';
import { collectTurn, ofType } from '@svc/engine-kit/testing/collect-turn.ts';
import { engineDeps } from '@svc/engine-kit/testing/engine-deps.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { startHttpToolServer, type HttpToolServer } from '@svc/testing/tool-server/start-http-tool-server.ts';
import { createEngine } from '../src/engine.ts';
import { findTool, serverOf } from '../src/tools.ts';

const program = path.resolve(import.meta.dirname, '../../../packages/testing/src/tool-server/stdio-tool-server.ts');
const secret = 'GIVEN-$ECRET-4711';
const folder = temporaryFolder();
let remote: HttpToolServer;
beforeAll(async () => void (remote = await startHttpToolServer()));
afterAll(async () => {
  await remote.close();
  folder.remove();
});

const local = (name: string, args: string[] = [], fields: Partial<ToolServer> = {}): ToolServer =>
  ({
    name,
    type: 'stdio',
    command: process.execPath,
    args: [program, ...args],
    env: { GIVEN_VALUE: secret },
    safe: true,
    ...fields,
  }) as ToolServer;
const overHttp = (name: string): ToolServer => ({
  name,
  type: 'http',
  url: remote.url,
  headers: { authorization: `Bearer ${secret}` },
  safe: false,
});
const engine = () =>
  createEngine(
    engineDeps({
      stateDir: folder.path,
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        OPENAI_API_KEY: 'k',
        SVC_MANAGER_TOKEN: 't',
      },
    }),
  );
const say = async (prompt: string, fields: Partial<EngineRequest> = {}, signal?: AbortSignal) => {
  const turn = await collectTurn(engine(), engineRequest({ prompt, cwd: folder.path, ...fields }), { signal });
  return {
    ...turn,
    calls: ofType(turn.events, 'tool'),
    results: ofType(turn.events, 'tool_result'),
    notices: ofType(turn.events, 'notice'),
  };
};

test('calls a tool by its plain name if only one server has it', async () => {
  const { calls, results, text } = await say('tool echo {"text":"ping"}', { toolServers: [local('kit')] });
  expect(calls).toMatchObject([{ name: 'kit.echo', input: { text: 'ping' } }]);
  expect(results).toMatchObject([{ ok: true, output: 'echo:ping' }]);
  expect(text).toBe('kit.echo said: echo:ping');
});

test("calls a tool over HTTP with the server's headers, without starting other servers", async () => {
  const toolServers = [local('never', ['never']), overHttp('remote')];
  const { results, notices } = await say('tool remote.echo {"text":"over"}', { toolServers });
  expect(results).toMatchObject([{ ok: true, output: 'echo:over' }]);
  expect(remote.authorizations.at(-1)).toBe(`Bearer ${secret}`);
  expect(notices).toEqual([]);
});

test('does not guess between two servers with the same tool', async () => {
  const { calls, text } = await say('tool echo x', { toolServers: [local('one'), overHttp('two')] });
  expect(calls).toEqual([]);
  expect(text).toContain('one.echo, two.echo');
});

test('policy none has no tools, and policy read those of safe servers', async () => {
  const toolServers = [local('safe'), overHttp('wild')];
  expect((await say('tool wild.echo x', { toolServers, toolPolicy: 'none' })).text).toContain('There is: none.');
  expect((await say('tool clock', { toolPolicy: 'none' })).calls).toEqual([]);
  const { calls, text } = await say('tool wild.echo x', { toolServers, toolPolicy: 'read' });
  expect(calls).toEqual([]);
  expect(text).not.toContain('wild.echo,');
  const tools = JSON.parse((await say('context', { toolServers, toolPolicy: 'read' })).text) as { tools: string[] };
  expect(tools.tools).toEqual(['clock', 'safe.echo', 'safe.env']);
});

test('reports a missing server with the reason, and others work', async () => {
  const gone: ToolServer = { ...local('gone'), command: '/nowhere/at-all' } as ToolServer;
  const { notices, results } = await say('tool kit.echo {"text":"on"}', { toolServers: [gone, local('kit')] });
  expect(notices).toEqual([]);
  expect(results).toMatchObject([{ output: 'echo:on' }]);
  const shown = await say('context', { toolServers: [gone, local('kit')] });
  expect(shown.notices).toMatchObject([
    { code: 'tool_server_missing', toolServer: 'gone', message: expect.stringContaining('/nowhere/at-all') },
  ]);
});

test('a tool server gets its own environment, without keys or tokens', async () => {
  const { results } = await say('tool kit.env', { toolServers: [local('kit')] });
  const names = results[0]?.output.split('\n') ?? [];
  expect(names).toContain(`GIVEN_VALUE=${secret}`);
  expect(names).toContain('PATH');
  expect(names.filter((name) => /KEY|TOKEN|NODE_/.test(name))).toEqual([]);
});

test('an abort ends a tool server that does not start', async () => {
  const started = Date.now();
  const toolServers = [local('never', ['never', 'marked-4712'])];
  const { last } = await say('tool never.echo x', { toolServers }, AbortSignal.timeout(1000));
  expect(last).toEqual({ type: 'aborted' });
  expect(Date.now() - started).toBeLessThan(8000);
  expect(commandLines().filter((line) => line.includes('marked-4712'))).toEqual([]);
});

test('usesTools() is true only for messages that ask for tools', () => {
  const uses = (text: string) => engine().usesTools?.(text);
  expect(['tool x', ' context', 'tool\nclock'].map(uses)).toEqual([true, true, true]);
  expect(['echo tool x', 'toolbox', 'Tool x', 'hello', ''].map(uses)).toEqual([false, false, false, false, false]);
});

describe('tool name', () => {
  const names = fc.stringMatching(/^[a-z0-9_.-]{1,8}$/);
  const servers = fc.stringMatching(/^[a-z0-9_-]{1,8}$/);
  const tools = fc.array(
    fc.record({ server: servers, name: names }).map(({ server, name }) => ({ server, name, fullName: `${server}.${name}` })),
    { maxLength: 6 },
  );

  test('finds a tool with that name, or lists those there are', () => {
    fc.assert(
      fc.property(tools, names, (offered, name) => {
        const found = findTool(name, offered, ['clock']);
        if ('tool' in found) expect([found.tool.name, found.tool.fullName]).toContain(name);
        else for (const { fullName, name: plain } of offered) if (plain === name) expect(found.answer).toContain(fullName);
      }),
    );
  });

  test('in full finds its own tool', () => {
    fc.assert(
      fc.property(tools, (offered) => {
        for (const tool of offered)
          expect(findTool(tool.fullName, offered, [])).toMatchObject({ tool: { fullName: tool.fullName } });
      }),
    );
  });

  test('begins with the name of its server', () => {
    fc.assert(fc.property(servers, names, (server, tool) => serverOf(`${server}.${tool}`, [{ name: server }]) === server));
    expect(serverOf('kitchen.echo', [{ name: 'kit' }])).toBeNull();
  });
});

const commandLines = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return ''; // it has ended meanwhile
      }
    });
