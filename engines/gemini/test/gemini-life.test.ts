import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { collectTurn, ofType } from '@svc/engine-kit/testing/collect-turn.ts';
import { hello, openEngineBench } from '@svc/engine-kit/testing/engine-bench.ts';
import {
  hourLimit,
  longWait,
  serviceError,
  testCutReplies,
  testUpstreamErrors,
} from '@svc/engine-kit/testing/engine-failures.ts';
import { sleepers, testEngineLife, testMissingEngine } from '@svc/engine-kit/testing/engine-life.ts';
import { engineDeps } from '@svc/engine-kit/testing/engine-deps.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { filesBelow } from '@svc/testing/files-below.ts';
import { processesIn } from '@svc/testing/model-server/find-processes.ts';
import { createGate } from '@svc/testing/model-server/gate.ts';
import type { ScriptedStep } from '@svc/testing/model-server/scripted-reply.ts';
import { startToolServer } from '@svc/testing/model-server/start-tool-server.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

const programs = ({ cwd }: { cwd: string }) => processesIn(cwd, 'gemini.js .*stream-json');
const shell = (command: string, more: object = {}): ScriptedStep => ({
  tool: 'run_shell_command',
  input: { command, description: 'x', ...more },
});

describeWithEngine('gemini', "lifecycle of gemini's processes", async (install) => {
  const bench = await openEngineBench({ id: 'gemini', createEngine, install }, { cache: 'compile-cache' });
  const { model, start, dir } = bench;

  testEngineLife(bench, {
    module: path.resolve(import.meta.dirname, '../src/engine.ts'),
    programs,
    shell,
    background: (command) => shell(command, { is_background: true }),
    imagePart: '"inlineData":{"data":"iVBOR',
    deadEndpointMs: 30_000,
  });

  test('shows an image even if the working folder ignores images', async () => {
    const { engine, request } = start();
    mkdirSync(path.join(request.cwd, '.git'));
    writeFileSync(path.join(request.cwd, '.gitignore'), '*.png\n');
    const image = path.join(dir, 'a picture, of @x.png');
    writeFileSync(image, 'dot');
    model.script(() => hello);
    const attachments = [{ path: image, mime: 'image/png' }];
    await collectTurn(engine, engineRequest({ prompt: 'what is it?', ...request, toolPolicy: 'none', attachments }));
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('"inlineData"');
  });

  test('ends commands of a killed service when the next one starts', async () => {
    const first = start();
    model.script((asked) => (asked.toolResults.length > 0 ? hello : { steps: [shell('sleep 4321')] }));
    const turn = collectTurn(first.engine, engineRequest({ prompt: 'go', ...first.request }));
    await expect.poll(() => sleepers(first.request.cwd)).not.toEqual([]);
    const [left] = sleepers(first.request.cwd);
    model.script(() => hello);
    vi.resetModules(); // the next service is another process
    const next = await import('../src/engine.ts');
    const engine = next.createEngine(engineDeps({ stateDir: first.stateDir, path: install, baseUrl: model.url }));
    onTestFinished(() => engine.close());
    await collectTurn(engine, engineRequest({ prompt: 'hi', cwd: mkdtempSync(path.join(dir, 'cwd-')) }));
    expect(sleepers(first.request.cwd)).not.toContain(left);
    await first.engine.close();
    await turn;
  });

  test('close() ends running turns', async () => {
    const { engine, request } = start();
    model.script(() => ({ steps: [{ text: ['a ', createGate()] }] }));
    const closed: Promise<void>[] = [];
    const onEvent = ({ type }: { type: string }) => (type === 'delta' ? void closed.push(engine.close()) : undefined);
    const { last } = await collectTurn(engine, engineRequest({ prompt: 'go', ...request }), { onEvent });
    expect(last).toMatchObject({ type: 'failed', failure: { code: 'engine_crashed' } });
    await Promise.all(closed);
    expect(programs(request)).toEqual([]);
  });

  test('keeps nothing of a side call, and no settings, reports or files of a turn', async () => {
    const { engine, stateDir, request } = start();
    const attachments = [{ path: path.join(dir, 'note.txt') }];
    writeFileSync(attachments[0]?.path ?? '', 'NOTE');
    const toolServers = [
      { name: 'x', type: 'http' as const, url: 'http://127.0.0.1:9', headers: { a: 'HEADER-SECRET' }, safe: true },
    ];
    model.script(() => ({ status: 400, kind: 'INVALID_ARGUMENT', message: 'no' }));
    await collectTurn(engine, engineRequest({ prompt: 'SIDE-CALL', ...request, purpose: 'title', toolPolicy: 'none' }));
    expect(contents(stateDir)).not.toContain('SIDE-CALL');
    expect(readdirSync(path.join(stateDir, 'sessions'))).toEqual([]);
    const { sessionId } = await collectTurn(engine, engineRequest({ prompt: 'A-TURN', ...request, attachments, toolServers }));
    const home = path.join(stateDir, 'sessions', sessionId ?? '');
    expect(contents(home)).toContain('A-TURN');
    expect(contents(home)).not.toMatch(/HEADER-SECRET|NOTE/);
    expect(['tmp', 'files', '.gemini/settings.json'].filter((name) => existsSync(path.join(home, name)))).toEqual([]);
  });

  test("hides the vendor's key and secrets of the service from commands", async () => {
    const env = {
      PATH: process.env.PATH,
      HOME: dir,
      GEMINI_API_KEY: 'VENDOR-KEY',
      SVC_INSIGHTS_TOKEN: 'hush',
      OPENAI_API_KEY: 'hush',
    };
    const { engine, request } = start({ env });
    model.script([{ steps: [shell('env; cat /proc/$PPID/environ | tr "\\0" "\\n"')] }, hello]);
    const { events } = await collectTurn(engine, engineRequest({ prompt: 'go', ...request }));
    const [result] = ofType(events, 'tool_result');
    expect(result).toMatchObject({ ok: true, output: expect.stringContaining('PATH=') });
    expect(result?.output).not.toMatch(/VENDOR-KEY|hush/);
  });

  test('reports a missing key in the turn and in the probe', async () => {
    const home = mkdtempSync(path.join(dir, 'home-'));
    const { engine, request } = start({ baseUrl: null, env: { PATH: process.env.PATH, HOME: home } });
    const { last } = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request }));
    expect(last).toMatchObject({
      type: 'failed',
      failure: { code: 'engine_not_logged_in', message: expect.stringContaining('GEMINI_API_KEY') },
    });
    const reason = expect.stringContaining('GEMINI_API_KEY');
    expect(await engine.probe()).toMatchObject({ installed: true, version: '0.61.0', ready: false, auth: 'none', reason });
  });

  test("neither uses nor changes the owner's gemini settings, and shows the owner's notes to the owner only", async () => {
    const home = mkdtempSync(path.join(dir, 'home-'));
    mkdirSync(path.join(home, '.gemini'));
    const file = path.join(home, '.gemini/settings.json');
    const own = JSON.stringify({
      mcpServers: { own: { command: '/nowhere/own' } },
      security: { auth: { selectedType: 'oauth-personal' } },
    });
    writeFileSync(file, own);
    writeFileSync(path.join(home, '.gemini/GEMINI.md'), 'OWN-CONTEXT');
    const { engine, request } = start({ env: { PATH: process.env.PATH, HOME: home } });
    model.script(() => hello);
    const { last, events, sessionId } = await collectTurn(engine, engineRequest({ prompt: 'OWN-WORDS', ...request }));
    expect(last).toEqual({ type: 'done' });
    expect(ofType(events, 'notice')).toEqual([]);
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('OWN-CONTEXT');
    const trusted = engineRequest({ prompt: 'hi', ...request });
    for (const resume of [null, sessionId]) {
      await collectTurn(engine, { ...trusted, resume, facts: { ...trusted.facts, tier: 'TRUSTED' } });
      const given = JSON.stringify(model.requests.at(-1)?.body);
      expect(given).not.toContain('OWN-CONTEXT');
      expect(given.includes('OWN-WORDS')).toBe(resume !== null);
    }
    expect(readFileSync(file, 'utf8')).toBe(own);
    expect(readdirSync(path.join(home, '.gemini')).toSorted()).toEqual(['GEMINI.md', 'settings.json']);
  });

  const parts = [{ text: 'Hel' }];
  testCutReplies(bench, ['', `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts } }] })}\n\n`]);

  testUpstreamErrors(bench, [
    // Each takes a process, and the program treats them like others of their status, which `refusal.test.ts` and `to-failure.test.ts` cover.
    ...(process.env.TEST_DEEP ? [hourLimit, serviceError] : []),
    longWait,
    {
      name: 'a limit that ends within a minute',
      reply: {
        status: 429,
        kind: 'RESOURCE_EXHAUSTED',
        message: 'Quota exceeded. Please retry in 40s.',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '40s' }],
      },
      code: 'engine_rate_limited',
      says: /Try again in 40 s/,
      endsIn: 40,
    },
    {
      name: 'overload',
      reply: { status: 503, kind: 'UNAVAILABLE', message: 'The model is overloaded.' },
      code: 'engine_overloaded',
      says: /Try again soon/,
    },
    {
      name: 'a model that is not there',
      reply: { status: 404, kind: 'NOT_FOUND', message: 'models/x is not found' },
      code: 'engine_bad_model',
      says: /models\/x is not found.*SVC_ENGINE_MODEL/,
    },
    {
      name: 'a context that is too long',
      reply: {
        status: 400,
        kind: 'INVALID_ARGUMENT',
        message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      },
      code: 'engine_context_too_long',
      says: /\/new/,
    },
    {
      name: 'a key that is wrong',
      reply: {
        status: 400,
        kind: 'INVALID_ARGUMENT',
        message: 'API key not valid. Please pass a valid API key.',
        details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
      },
      code: 'engine_auth_failed',
      says: /API key not valid/,
    },
  ]);

  test('does not use the proxy of the service for tool servers', async () => {
    const tools = await startToolServer();
    const env = {
      PATH: process.env.PATH,
      HTTPS_PROXY: 'http://127.0.0.1:9',
      HTTP_PROXY: 'http://127.0.0.1:9',
      NO_PROXY: 'localhost',
    };
    const { engine, request } = start({ env });
    const headers = { authorization: 'Bearer a$HOME${x}\\$' };
    const toolServers = [{ name: 'kit', type: 'http' as const, url: tools.url, headers, safe: true }];
    model.script([{ steps: [{ tool: /echo/, input: { text: 'x' } }] }, hello]);
    const { last, events } = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request, toolServers }));
    await tools.close();
    expect(last).toEqual({ type: 'done' });
    expect(ofType(events, 'tool_result')).toMatchObject([{ ok: true, output: 'echo:x' }]);
    expect(new Set(tools.authorizations)).toEqual(new Set([headers.authorization]));
  });

  test('uses the given model, resumes a session in any folder, and replaces an unknown one', async () => {
    const { engine, request } = start();
    model.script(() => hello);
    const first = await collectTurn(engine, engineRequest({ prompt: 'FIRST-WORDS', ...request, model: 'gemini-x' }));
    expect(model.requests.at(-1)?.model).toBe('gemini-x');
    for (const cwd of [mkdtempSync(path.join(dir, 'CWD ')), request.cwd]) {
      const moved = await collectTurn(engine, engineRequest({ prompt: 'hi', cwd, resume: first.sessionId }));
      expect(moved).toMatchObject({ last: { type: 'done' }, sessionId: first.sessionId });
      expect(ofType(moved.events, 'notice')).toEqual([]);
      expect(model.requests.at(-1)?.historyText).toContain('FIRST-WORDS');
    }
    // Other invalid session ids: `session-home.test.ts`.
    const { events } = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request, resume: 'latest' }));
    expect(ofType(events, 'notice')).toMatchObject([{ code: 'session_unknown' }]);
  });
});

testMissingEngine('gemini', createEngine);

/** The content of all files below a folder. */
const contents = (folder: string): string =>
  filesBelow(folder)
    .filter((file) => !file.includes('/compile-cache/'))
    .map((file) => readFileSync(file, 'latin1'))
    .join('\n');
