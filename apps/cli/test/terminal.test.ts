import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import type { ListedSession } from '@svc/contract/session.ts';
import type { Terminal } from '@svc/contract/terminal.ts';
import { http, type IncomingMessage, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { waitFor } from '@svc/testing/house.ts';
import { compiledCode, runSvc } from '@svc/testing/run-svc.ts';
import { testUnless, whyNoTmux } from '@svc/testing/skip-note.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

const place = temporaryFolder();
const socket = path.join(place.path, 'own.sock');
const own: Terminal = {
  id: 'term_1',
  conversation_key: 'messenger:m1:user:7',
  engine_id: 'claude',
  engine_session_id: 's',
  cwd: '/srv/work',
  pid: 1,
  started_at: Date.now(),
  attach: ['tmux', '-S', socket, 'attach-session', '-t', '=term_1'],
};
const other = {
  conversation_key: 'terminal:codex:1-2',
  source: 'terminal',
  state: 'idle',
  active: true,
  engine_id: 'codex',
  model: 'gpt-x',
  title: 'Fix the build',
  identity: 'ann',
  surface: 'terminal',
  repo: null,
  last_text: null,
  cwd: '/home/ann/site',
  pid: 4242,
  multiplexer: 'tmux',
  tmux_target: '%3',
  turns: 2,
  input_tokens: 1200,
  output_tokens: 34,
  cost_usd: 0.25,
  unpriced: 0,
  last_event_at: Date.now(),
} as ListedSession;

let asked: string[] = [];
/** The answers of both hosts by request; anything else is 404. */
const answers: Record<string, object> = {
  'GET /v2/terminals': { terminals: [own] },
  'POST /v2/terminals': own,
  'DELETE /v2/terminals/term_1': { ok: true },
  'GET /v2/engines': { engines: [{ id: 'codex' }, { id: 'claude', default: true }] },
  'GET /api/sessions': { sessions: [other, { ...other, conversation_key: own.conversation_key, source: 'core' }] },
  'POST /api/control/send-keys': { ok: true },
  'POST /api/control/kill': { ok: true, pid: 4242 },
};
const answer = (request: IncomingMessage, response: ServerResponse): void => {
  void textOf(request).then((body) => {
    const name = `${request.method} ${request.url?.split('?')[0]}`;
    asked.push(`${name}${body === '' ? '' : ` ${body}`}`);
    response.writeHead(name in answers ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answers[name] ?? { ok: false, error: 'not_found', message: 'There is none.' }));
  });
};
const [core, collector] = [http.createServer(answer), http.createServer(answer)];
const portOf = async (server: typeof core): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return String((server.address() as { port: number }).port);
};
let env: Record<string, string | undefined>;

beforeAll(async () => {
  const [SVC_CORE_PORT, SVC_COLLECTOR_PORT] = [await portOf(core), await portOf(collector)];
  env = {
    ...compiledCode,
    PATH: process.env['PATH'],
    HOME: place.path,
    SVC_DATA_DIR: place.path,
    SVC_CORE_PORT,
    SVC_COLLECTOR_PORT,
  };
});
afterAll(() => {
  for (const host of [core, collector]) {
    host.closeAllConnections();
    host.close();
  }
  place.remove();
});
beforeEach(() => void (asked = []));

const svc = (...args: string[]) => runSvc(['terminal', ...args], { env, cwd: place.path });
const changes = () => asked.filter((one) => !one.startsWith('GET'));

test('lists the terminals of the service and the programs that people started, each once', async () => {
  const { code, out } = await svc();
  expect(code).toBe(0);
  expect(out).toContain('term_1');
  expect(out).toContain('claude, /srv/work');
  expect(out).toMatch(/Started by a person:\n +Fix the build/);
  expect(out).toMatch(/ann, terminal, codex gpt-x, 2 turns, .*\$0\.25/);
  expect(out).toContain('tmux %3');
  expect(out.split('messenger:m1:user:7')).toHaveLength(2);
});

test('starts the default engine, or the engine of the given conversation', async () => {
  expect(await svc('start', '--cwd', '.')).toMatchObject({ code: 0, err: '' });
  const { out } = await svc('start', '--session', own.conversation_key);
  expect(out).toContain('only noted until it ends');
  expect(changes()).toEqual([
    `POST /v2/terminals ${JSON.stringify({ engine: 'claude', cwd: place.path })}`,
    `POST /v2/terminals ${JSON.stringify({ conversation_key: own.conversation_key })}`,
  ]);
});

test('sends a line, a draft or a key to a terminal by its name or its conversation', async () => {
  for (const args of [
    ['term_1', 'run', 'the tests'],
    [own.conversation_key, '--no-enter', '--', '-x;'],
    [other.conversation_key, '--key', 'Escape'],
  ])
    expect(await svc('send', ...args)).toMatchObject({ code: 0, err: '' });
  const route = 'POST /api/control/send-keys';
  expect(changes()).toEqual([
    `${route} ${JSON.stringify({ session_id: own.conversation_key, text: 'run the tests', enter: true })}`,
    `${route} ${JSON.stringify({ session_id: own.conversation_key, text: '-x;', enter: false })}`,
    `${route} ${JSON.stringify({ session_id: other.conversation_key, keys: 'Escape' })}`,
  ]);
});

test.each([[['term_1']], [['term_1', 'x', '--key', 'Up']]])(
  'refuses a send with neither or both of a text and a key: %j',
  async (args) => {
    expect(await svc('send', ...args)).toMatchObject({ code: 2 });
    expect(asked).toEqual([]);
  },
);

test('ends a terminal of the service through the core, and a program of a person through the collector', async () => {
  expect((await svc('end', 'term_1')).out).toBe('It is ended.\n');
  await svc('end', other.conversation_key);
  await svc('end', 'term_1', '--hard');
  expect(changes()).toEqual([
    'DELETE /v2/terminals/term_1',
    `POST /api/control/kill ${JSON.stringify({ session_id: other.conversation_key, hard: false })}`,
    `POST /api/control/kill ${JSON.stringify({ session_id: own.conversation_key, hard: true })}`,
  ]);
});

test('attach and end name a terminal that does not exist', async () => {
  for (const verb of ['attach', 'end'])
    expect(await svc(verb, 'term_9')).toMatchObject({ code: 1, err: expect.stringContaining('"term_9"') as string });
});

testUnless(whyNoTmux())('attach shows the terminal, also inside another tmux', async () => {
  const outer = path.join(place.path, 'outer.sock');
  const tmux = (on: string, ...args: string[]) =>
    execFileSync('tmux', ['-S', on, '-f', '/dev/null', ...args], { encoding: 'utf8' });
  tmux(socket, 'new-session', '-d', '-s', 'term_1', 'echo IT IS HERE; exec sleep 100');
  const words = Object.entries(env).map(([name, value]) => `'${name}=${value}'`);
  const main = path.join(repositoryRoot, 'apps/cli/src/main.ts');
  tmux(
    outer,
    'new-session',
    '-d',
    '-s',
    'o',
    `env ${words.join(' ')} '${process.execPath}' '${main}' terminal attach term_1; sleep 100`,
  );
  try {
    await waitFor(
      () => tmux(outer, 'capture-pane', '-p', '-t', 'o').includes('IT IS HERE'),
      20_000,
      () => tmux(outer, 'capture-pane', '-p', '-t', 'o'),
    );
  } finally {
    tmux(outer, 'kill-server');
    tmux(socket, 'kill-server');
  }
});
