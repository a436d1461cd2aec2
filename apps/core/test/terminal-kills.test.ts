import { execFileSync, fork, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { History, Session } from '@svc/contract/session.ts';
import type { Terminal, TerminalList } from '@svc/contract/terminal.ts';
import { isAlive, signalIfThere } from '@svc/service-kit/process/signal-process.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { waitFor } from '@svc/testing/house.ts';
import { testUnless, whyNoTmux } from '@svc/testing/skip-note.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { usualOrDeep } from '@svc/testing/usual-or-deep.ts';
import { afterAll, beforeAll, expect } from 'vitest';

/** A thorough run has 20 sessions and 60 kills, which takes eight minutes. */
const sessions = Number(process.env['TERMINAL_SESSIONS'] ?? 3);
const kills = Number(process.env['TERMINAL_KILLS'] ?? usualOrDeep(6, 16));
const place = temporaryFolder();
const data = path.join(place.path, 'data');
const transcripts = path.join(place.path, 'home/.claude/projects/-srv');
const socket = path.join(data, 'run/tmux.sock');
let url: string;
let core: ChildProcess | undefined;
let collector: ChildProcess | undefined;
let ports: { core: string; collector: string };

/** Starts a process and waits until it reports that it is ready. */
async function start(script: string, more: Record<string, string>): Promise<ChildProcess> {
  const child = fork(path.join(import.meta.dirname, script), {
    env: {
      PATH: process.env['PATH'],
      HOME: path.join(place.path, 'home'),
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ...more,
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const said = child.stdout === null ? [] : [once(child.stdout, 'data')];
  const isReady = Promise.race([once(child, 'message'), ...said]);
  await Promise.race([isReady, once(child, 'exit').then(() => Promise.reject(new Error(`${script} ended before it was ready`)))]);
  child.stdout?.resume();
  return child;
}
const startCore = () =>
  start('fixtures/terminal-core.ts', { DATA: data, CORE_PORT: ports.core, COLLECTOR_PORT: ports.collector });
const startCollector = () =>
  start('../../collector/src/main.ts', {
    SVC_DATA_DIR: path.join(place.path, 'collector'),
    SVC_COLLECTOR_PORT: ports.collector,
    SVC_CORE_PORT: ports.core,
    SVC_LOG_LEVEL: 'error',
  });
const killHard = async (child: ChildProcess | undefined): Promise<void> => {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
};

beforeAll(async () => {
  mkdirSync(data, { recursive: true });
  mkdirSync(transcripts, { recursive: true });
  const [first = 0, second = 0] = await freePorts(2);
  ports = { core: String(first), collector: String(second) };
  url = `http://127.0.0.1:${first}`;
  core = await startCore();
  collector = await startCollector();
}, 60_000);
afterAll(async () => {
  await Promise.all([core, collector].map(killHard));
  spawnSync('tmux', ['-S', socket, 'kill-server']);
  for (const pid of programs().keys()) signalIfThere(pid, 'SIGKILL');
  place.remove();
});

type Answer<T> = { status: number; body: T };
const ask = async <T>(method: string, at: string, body?: object): Promise<Answer<T>> => {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url + at, { method, ...(body !== undefined && { headers, body: JSON.stringify(body) }) });
  return { status: answer.status, body: (await answer.json()) as T };
};
const list = async () => (await ask<TerminalList>('GET', '/v2/terminals')).body.terminals;
const all = async () => (await ask<{ sessions: Session[] }>('GET', '/v2/sessions?limit=200')).body.sessions;
/** The terminals that tmux has, by name. */
const panes = (): string[] => {
  const { stdout } = spawnSync('tmux', ['-S', socket, 'list-sessions', '-F', '#{session_name}'], { encoding: 'utf8' });
  return stdout.split('\n').filter((name) => name.startsWith('term_'));
};
/** Running engine programs, each with its engine session. */
function programs(): Map<number, string> {
  const lines = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' }).split('\n');
  const own = lines.filter((line) => line.includes(`engine ${transcripts} `) && !line.includes('tmux -S'));
  return new Map(own.map((line) => [Number.parseInt(line, 10), line.trim().split(' ').at(-1) ?? '']));
}
/** Waits until the state is consistent: each claimed session runs once, in a terminal, and nothing else runs. */
async function settled(): Promise<void> {
  let seen = '';
  const isSettled = async () => {
    const [terminals, rows] = [await list(), await all()];
    const ids = terminals.map(({ id }) => id).toSorted();
    const claimed = rows.flatMap(({ claimed_by }) => claimed_by ?? []).toSorted();
    const noted = rows.flatMap(({ tmux_target }) => tmux_target ?? []).toSorted();
    seen = JSON.stringify({ ids, claimed, noted });
    if (![claimed, noted].every((other) => JSON.stringify(other) === JSON.stringify(ids))) return false;
    const shown = panes().toSorted();
    const running = [...programs().values()].toSorted();
    const expected = terminals.map(({ engine_session_id }) => engine_session_id ?? '').toSorted();
    seen = JSON.stringify({ ids, claimed, noted, shown, running, expected });
    const isSame = JSON.stringify([shown, running]) === JSON.stringify([ids, expected]);
    return isSame && terminals.every(({ pid }) => isAlive(pid));
  };
  await waitFor(isSettled, 60_000, () => `it does not settle: ${seen}`);
}

/** What the collector has of each conversation: sorted texts, and tokens. */
type Told = Record<string, { asked: string[]; said: string[]; output_tokens: number; turns: number }>;
function told(): Told {
  const db = new DatabaseSync(path.join(place.path, 'collector/collector.db'), { readOnly: true });
  try {
    const rows = db
      .prepare(
        `SELECT session, kind, text, payload ->> 'output_tokens' AS output_tokens, payload ->> 'turns' AS turns FROM event
          WHERE kind IN ('inbound', 'outbound', 'token-usage')`,
      )
      .all() as { session: string; kind: string; text: string; output_tokens: number | null; turns: number | null }[];
    const all: Told = {};
    for (const { session, kind, text, output_tokens, turns } of rows) {
      const one = (all[session] ??= { asked: [], said: [], output_tokens: 0, turns: 0 });
      if (kind === 'inbound') one.asked.push(text);
      if (kind === 'outbound') one.said.push(text);
      one.output_tokens += output_tokens ?? 0;
      one.turns += turns ?? 0;
    }
    for (const one of Object.values(all)) [one.asked, one.said] = [one.asked.toSorted(), one.said.toSorted()];
    return all;
  } finally {
    db.close();
  }
}
const expectedOf = (spoken: Map<string, string[]>): Told =>
  Object.fromEntries(
    [...spoken].map(([key, asked]) => [
      key,
      {
        asked: asked.toSorted(),
        said: asked.map((text) => text.replace('ask', 'say')).toSorted(),
        output_tokens: 7 * asked.length,
        turns: asked.length,
      },
    ]),
  );
const hasToldAll = (spoken: Map<string, string[]>): boolean =>
  Object.entries(expectedOf(spoken)).every(([key, { asked, output_tokens }]) => {
    const now = told()[key];
    return now !== undefined && now.asked.length >= asked.length && now.output_tokens >= output_tokens;
  });

const keys: string[] = [];
async function openAll(): Promise<void> {
  const open = new Set((await list()).map(({ conversation_key }) => conversation_key));
  const begin = async (body: object): Promise<string> => {
    const answer = await ask<Terminal>('POST', '/v2/terminals', body);
    expect([answer.status, answer.body]).toEqual([200, answer.body]);
    return answer.body.conversation_key;
  };
  for (const key of keys) if (!open.has(key)) await begin({ conversation_key: key });
  while (keys.length < sessions) keys.push(await begin({ engine: 'claude', cwd: path.join(place.path, 'home') }));
}

testUnless(whyNoTmux())(
  `${kills} kills of programs, tmux, core and collector in ${sessions} sessions lose no claim and report nothing twice`,
  async () => {
    await openAll();
    for (let n = 0; n < kills; n++) {
      const terminals = await list();
      const victim = terminals[(n * 7) % terminals.length];
      // Every other time in the middle of a request to end the terminal.
      const asked =
        n % 2 === 1 && victim !== undefined ? ask('DELETE', `/v2/terminals/${victim.id}`).catch(() => undefined) : null;
      if (n % 3 === 0) for (const { pid } of terminals.slice(0, 2)) if (isAlive(pid)) signalIfThere(pid, 'SIGKILL');
      if (n % 3 === 1) {
        await killHard(core);
        await asked;
        core = await startCore();
      }
      if (n % 12 === 2) {
        const { stdout } = spawnSync('tmux', ['-S', socket, 'display-message', '-p', '#{pid}'], { encoding: 'utf8' });
        if (Number(stdout) > 1) signalIfThere(Number(stdout), 'SIGKILL');
      } else if (n % 3 === 2) spawnSync('tmux', ['-S', socket, 'kill-session', '-t', `=${victim?.id}:`]);
      if (n % 5 === 3) {
        await killHard(collector);
        collector = await startCollector();
      }
      await asked;
      await settled();
      if (n % 4 === 3) await openAll();
    }
    for (const { id } of await list()) await ask('DELETE', `/v2/terminals/${id}`);
    await settled();
    expect((await all()).filter(({ claimed_by, multiplexer }) => claimed_by !== null || multiplexer !== null)).toEqual([]);
    let turns = 0;
    const spoken = new Map<string, string[]>();
    for (const file of readdirSync(transcripts)) {
      const said = readFileSync(path.join(transcripts, file), 'utf8').match(/ask [0-9a-f-]+/g) ?? [];
      const key = `terminal:claude:${path.basename(file, '.jsonl')}`;
      const { messages } = (await ask<History>('GET', `/v2/session/${key}/history?limit=1000`)).body;
      expect(messages.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual(said);
      const { body } = await ask<Session>('GET', `/v2/session/${key}`);
      expect([body.turns, body.input_tokens, body.output_tokens]).toEqual([said.length, said.length, 7 * said.length]);
      turns += said.length;
      spoken.set(key, said);
    }
    await waitFor(
      () => hasToldAll(spoken),
      60_000,
      () => `the collector has: ${JSON.stringify(told())}`,
    );
    // Anything reported late or twice would arrive now.
    await killHard(core);
    await killHard(collector);
    collector = await startCollector();
    await killHard(collector);
    expect(told()).toEqual(expectedOf(spoken));
    expect(keys).toHaveLength(sessions);
    expect(turns).toBeGreaterThan(0);
    process.stderr.write(`${kills} kills, ${turns} turns in terminals\n`);
  },
  Math.max(540_000, kills * 40_000),
);
