import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Terminal, TerminalList } from '@svc/contract/terminal.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { EngineTerminal } from '@svc/engine-kit/engine.ts';
import { isAlive, signalProcess } from '@svc/service-kit/process/signal-process.ts';
import { createRemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import { waitFor } from '@svc/testing/house.ts';
import { createScriptedEngine } from '@svc/testing/scripted-engine.ts';
import { skipNote, whyNoTmux } from '@svc/testing/skip-note.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTmuxServer } from '../src/terminal/tmux-server.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const noTmux = whyNoTmux();
const users = createRemoteUsers('s'.repeat(43));
const key = 'compat:c1:key';
let core: TestCore;
let place: TemporaryFolder;
/** The engine's program in the next terminal. */
let program: (resume: string | null) => EngineTerminal | { problem: string };

const PATH = process.env['PATH'] ?? '';
const running = (resume: string | null): EngineTerminal => ({
  argv: ['sh', '-c', `pwd > "$OUT/cwd"; env > "$OUT/env"; echo "$0" > "$OUT/args"; exec cat`, 'a;'],
  env: { PATH, OUT: place.path, OWN_TOKEN: 'of-the-engine' },
  engineSessionId: resume ?? '6b0a9a0e-0000-4000-8000-000000000001',
});

const open = () =>
  openTestCore({
    remoteUsers: users,
    env: { SVC_DEFAULT_ENGINE: 'offline', PATH, SVC_MANAGER_TOKEN: 'of-the-service' },
    loadEngine: async (id) => () =>
      Object.assign(createScriptedEngine(id), { terminal: async ({ resume }: { resume: string | null }) => program(resume) }),
  });

beforeEach(async () => {
  place = temporaryFolder();
  program = running;
  core = await open();
});
afterEach(async () => {
  for (const { id } of core.context.terminals.list()) await core.context.terminals.end(id);
  await core.close();
  place.remove();
});

const call = (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object, headers = {}) =>
  core.app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) });
async function start(payload: object): Promise<Terminal> {
  const answer = await call('POST', '/v2/terminals', payload);
  expect([answer.statusCode, answer.body]).toEqual([200, answer.body]);
  return answer.json<Terminal>();
}
const refusal = async (payload: object) => {
  const { statusCode, body } = await call('POST', '/v2/terminals', payload);
  return `${statusCode} ${body}`;
};
const session = async (of = key) => (await call('GET', `/v2/session/${encodeURIComponent(of)}`)).json<Record<string, unknown>>();
const list = async () => (await call('GET', '/v2/terminals')).json<TerminalList>().terminals;
const say = () => core.handle(envelope('hello', { conversation_key: key }));
const written = async (name: string) => {
  const file = path.join(place.path, name);
  await waitFor(
    () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'),
    10_000,
    () => `no ${name}`,
  );
  return readFileSync(file, 'utf8').trim();
};
const gone = (id: string) =>
  waitFor(
    () => core.context.terminals.list().every((one) => one.id !== id),
    10_000,
    () => `${id} goes on`,
  );
const isReleased = { claimed_by: null, multiplexer: null, tmux_target: null, state: 'idle' };

describe.skipIf(noTmux !== null)(`a terminal${skipNote(noTmux)}`, () => {
  test('takes a session over and returns it when its program ends; messages are only observed meanwhile', async () => {
    await say();
    const terminal = await start({ conversation_key: key });
    expect(terminal).toMatchObject({ conversation_key: key, engine_id: 'offline', engine_session_id: `s-${key}` });
    expect(await session()).toMatchObject({
      claimed_by: terminal.id,
      multiplexer: 'tmux',
      tmux_target: terminal.id,
      state: 'claimed',
    });
    const [first, second] = [(await say()).json<HandleResult>(), (await say()).json<HandleResult>()];
    expect(first).toMatchObject({
      outcome: 'command',
      actions: [{ type: 'reply', text: expect.stringContaining('open in a terminal') as string }],
    });
    expect(second).toMatchObject({ outcome: 'observed', actions: [] });
    expect((await call('POST', '/v2/release', { conversation_key: key })).statusCode).toBe(409);
    expect((await call('DELETE', `/v2/session/${key}`)).statusCode).toBe(409);
    expect(await refusal({ conversation_key: key })).toMatch(/^409.*in a terminal/);
    signalProcess(terminal.pid, 'SIGKILL');
    await gone(terminal.id);
    await waitFor(
      async () => (await session())['claimed_by'] === null,
      10_000,
      () => 'it is claimed',
    );
    expect(await session()).toMatchObject(isReleased);
    expect((await say()).json()).toMatchObject({ outcome: 'replied' });
  });

  test('can be a session without channel and instance, which can be listed, ended and resumed', async () => {
    mkdirSync(path.join(place.path, 'odd #(touch x) name;'));
    const cwd = path.join(place.path, 'odd #(touch x) name;');
    const terminal = await start({ engine: 'offline', cwd });
    expect(terminal.conversation_key).toBe('terminal:offline:6b0a9a0e-0000-4000-8000-000000000001');
    expect(await session(terminal.conversation_key)).toMatchObject({
      surface: 'terminal',
      instance_id: null,
      cwd,
      engine_id: 'offline',
    });
    expect([await written('cwd'), await written('args')]).toEqual([cwd, 'a;']);
    expect(await list()).toEqual([terminal]);
    expect((await call('DELETE', `/v2/terminals/${terminal.id}`)).statusCode).toBe(200);
    await waitFor(
      () => !isAlive(terminal.pid),
      10_000,
      () => 'it lives',
    );
    expect([await list(), (await call('GET', `/v2/terminals/${terminal.id}`)).statusCode]).toEqual([[], 404]);
    expect(await session(terminal.conversation_key)).toMatchObject(isReleased);
    expect(await start({ conversation_key: terminal.conversation_key })).toMatchObject({
      engine_session_id: terminal.engine_session_id,
      cwd,
    });
  });

  test('gets the environment of its engine only, and passes none of it in command-line arguments', async () => {
    const first = await start({ engine: 'offline' });
    expect(await written('env')).toContain('OWN_TOKEN=of-the-engine');
    const processes = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
    expect(processes).not.toContain('of-the-engine');
    const second = temporaryFolder();
    program = () => ({
      argv: ['sh', '-c', `env > ${second.path}/env; exec cat`],
      env: { PATH, OTHER: '1' },
      engineSessionId: null,
    });
    await start({ engine: 'claude' });
    const file = path.join(second.path, 'env');
    await waitFor(
      () => existsSync(file) && readFileSync(file, 'utf8').includes('PATH='),
      10_000,
      () => 'no env',
    );
    const env = readFileSync(file, 'utf8');
    expect([env.includes('OTHER=1'), env.includes('of-the-engine'), env.includes('of-the-service')]).toEqual([
      true,
      false,
      false,
    ]);
    expect((await list()).map(({ conversation_key }) => conversation_key.split(':').slice(0, 2).join(':'))).toEqual([
      'terminal:offline',
      'terminal:claude',
    ]);
    second.remove();
    expect(first.attach.slice(0, 3)).toEqual(['tmux', '-S', path.join(core.folder, 'run/tmux.sock')]);
  });

  test('survives a restart of the core, and a session whose terminal ended is released at the start', async () => {
    await say();
    const kept = await start({ engine: 'offline' });
    const ended = await start({ conversation_key: key });
    const tmux = createTmuxServer({ run: path.join(core.folder, 'run'), path: PATH });
    await tmux.end(ended.id);
    await tmux.open('term_nobodys', { argv: ['cat'], env: { PATH }, cwd: place.path });
    // The state that the next core finds.
    const { context } = core;
    await context.terminals.close();
    await context.sessions.enterTerminal(key, ended.id);
    await context.terminals.recover();
    expect(await list()).toEqual([{ ...kept, started_at: expect.any(Number) as number }]);
    expect(isAlive(kept.pid)).toBe(true);
    expect(await session()).toMatchObject(isReleased);
    expect((await tmux.list()).map(({ id }) => id)).toEqual([kept.id]);
  });
});

describe.skipIf(noTmux !== null)(`a terminal under adverse use${skipNote(noTmux)}`, () => {
  test('is opened once per session in concurrent requests, and not while a turn begins', async () => {
    await say();
    const [turn, ...answers] = await Promise.all([
      say(),
      ...[1, 2, 3].map(() => call('POST', '/v2/terminals', { conversation_key: key })),
    ]);
    expect(turn.statusCode).toBe(200);
    const statuses = answers.map(({ statusCode }) => statusCode).sort((a, b) => a - b);
    expect(statuses.slice(1)).toEqual([409, 409]);
    expect((await list()).length).toBe(statuses[0] === 200 ? 1 : 0);
  });

  test('stays the same when a person splits or moves panes, which end with its program', async () => {
    const terminal = await start({ engine: 'offline' });
    const tmux = (...args: string[]) => execFileSync('tmux', ['-S', path.join(core.folder, 'run/tmux.sock'), ...args]);
    tmux('split-window', '-b', '-d', '-t', terminal.id, 'sleep 100');
    tmux('new-window', '-d', '-t', terminal.id, 'sleep 100');
    await core.context.terminals.close();
    await core.context.terminals.recover();
    expect(await list()).toMatchObject([{ id: terminal.id, pid: terminal.pid }]);
    signalProcess(terminal.pid, 'SIGKILL');
    await gone(terminal.id);
    const server = createTmuxServer({ run: path.join(core.folder, 'run'), path: PATH });
    await waitFor(
      async () => (await server.list()).length === 0,
      10_000,
      () => 'something is left',
    );
  });

  test('is released when its tmux server is killed, and can be opened again', async () => {
    await say();
    const terminal = await start({ conversation_key: key });
    execFileSync('tmux', ['-S', path.join(core.folder, 'run/tmux.sock'), 'kill-server']);
    await gone(terminal.id);
    await waitFor(
      async () => (await session())['claimed_by'] === null,
      10_000,
      () => 'it is claimed',
    );
    expect((await start({ conversation_key: key })).pid).toBeGreaterThan(0);
  });
});

describe('a refused terminal', () => {
  test.each([
    ['without an engine', {}, /^400.*engine is missing/],
    ['of an engine that is not there', { engine: 'nope' }, /^422.*no engine/],
    ['of a session that is not there', { conversation_key: 'compat:c1:none' }, /^404/],
    ['in a folder that is not there', { engine: 'offline', cwd: '/no/such/folder' }, /^400.*does not exist/],
    ['in the data of the service', { engine: 'offline', cwd: 'DATA' }, /^400.*data folder/],
    ['in a folder that is not absolute', { engine: 'offline', cwd: '-c' }, /^400.*absolute/],
  ])('names the reason: %s', async (_, payload, text) => {
    const given = 'cwd' in payload && payload.cwd === 'DATA' ? { ...payload, cwd: core.folder } : payload;
    expect(await refusal(given)).toMatch(text);
    expect(await list()).toEqual([]);
  });

  test('leaves no claim and no session behind, whether engine, session or program is the cause', async () => {
    program = () => ({ problem: 'It has none.' });
    expect(await refusal({ engine: 'offline' })).toMatch(/^422.*It has none/);
    await say();
    await call('POST', '/v2/claim', { conversation_key: key, by: 'ann' });
    expect(await refusal({ conversation_key: key })).toMatch(/^409.*claimed by ann/);
    await call('POST', '/v2/release', { conversation_key: key });
    expect(await refusal({ conversation_key: key, engine: 'claude' })).toMatch(/^409.*belongs to offline/);
    program = (resume) => ({ ...running(resume), argv: [path.join(place.path, 'no such program'), 'x'] });
    if (noTmux === null) expect(await refusal({ conversation_key: key })).toMatch(/^422/);
    expect(await session()).toMatchObject(isReleased);
    if (noTmux === null) expect(await refusal({ engine: 'offline' })).toMatch(/^422/);
    const { sessions } = (await call('GET', '/v2/sessions')).json<{ sessions: unknown[] }>();
    expect(sessions).toHaveLength(1);
  });

  test('names the package to install without tmux, and releases the session', async () => {
    await core.close();
    const empty = path.join(place.path, 'empty');
    mkdirSync(empty);
    writeFileSync(path.join(empty, 'tmux'), '', { mode: 0o600 });
    core = await openTestCore({
      env: { SVC_DEFAULT_ENGINE: 'offline', PATH: empty },
      loadEngine: async (id) => () => Object.assign(createScriptedEngine(id), { terminal: async () => running(null) }),
    });
    await say();
    expect(await refusal({ conversation_key: key })).toMatch(/^503.*apt-get install tmux/);
    expect(await session()).toMatchObject(isReleased);
    await core.context.terminals.recover();
  });

  test('names the required version when tmux is too old', async () => {
    await core.close();
    const old = path.join(place.path, 'old');
    mkdirSync(old);
    writeFileSync(path.join(old, 'tmux'), '#!/bin/sh\necho tmux 2.9a\n', { mode: 0o700 });
    core = await openTestCore({
      env: { SVC_DEFAULT_ENGINE: 'offline', PATH: `${old}:${PATH}` },
      loadEngine: async (id) => () => Object.assign(createScriptedEngine(id), { terminal: async () => running(null) }),
    });
    expect(await refusal({ engine: 'offline' })).toMatch(/^503.*tmux 2\.9a is too old: 3\.0 or later.*apt-get install tmux/);
    expect(await list()).toEqual([]);
  });

  test('is refused to people below SACRED', async () => {
    await core.addPrincipal('tom', 'trusted', 'web');
    await core.addPrincipal('sue', 'owner', 'web');
    const status = async (who: string) => (await call('GET', '/v2/terminals', undefined, users.headersFor(who))).statusCode;
    expect([await status('tom'), await status('nobody'), await status('sue')]).toEqual([403, 403, 200]);
    const asked = await call('POST', '/v2/terminals', { engine: 'offline' }, users.headersFor('tom'));
    expect([asked.statusCode, await list()]).toEqual([403, []]);
  });
});
