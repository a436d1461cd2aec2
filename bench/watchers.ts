import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openRequest, requestJson } from '@svc/service-kit/http/json-client.ts';
import { median } from './load.ts';
import { usageOf } from './process-usage.ts';

/**
 * What watchers of a conversation cost its turns: a streamed turn of 400 tokens, 5 ms apart, and short turns one after the other, with 0, 1, 50
 * … watchers, in rounds that interleave them. CPU is that of the core, ms a turn; a gap is the time between two deltas at the caller.
 * `node bench/watchers.ts [--watchers 0,1,50] [--rounds 5] [--turns 200]`.
 */
const { values } = parseArgs({
  options: {
    watchers: { type: 'string', default: '0,1,50' },
    rounds: { type: 'string', default: '5' },
    turns: { type: 'string', default: '200' },
    port: { type: 'string', default: '3941' },
  },
});
const port = Number(values.port);
const url = `http://127.0.0.1:${port}`;
const key = 'shell:bench:1';
const user = process.env['USER'] ?? 'root';

const envelope = (model: string) => ({
  channel: 'shell',
  conversation_key: key,
  sender: { raw_id: user },
  content: { text: 'go' },
  channel_context: { requested_model: model },
});

async function startCore(dir: string): Promise<ChildProcess> {
  const root = path.join(import.meta.dirname, '..');
  const env = {
    PATH: process.env['PATH'],
    HOME: dir,
    USER: user,
    SVC_DATA_DIR: dir,
    SVC_CORE_PORT: String(port),
    SVC_DEFAULT_ENGINE: 'offline',
    SVC_OFFLINE_SCRIPT: path.join(import.meta.dirname, 'static-engine.ts'),
    SVC_LOG_LEVEL: 'error',
    SVC_TITLES: 'off',
  };
  const child = fork(path.join(root, 'apps/core/src/main.ts'), { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  await once(child, 'message');
  return child;
}

/** Reads and throws away. */
async function openWatchers(count: number): Promise<Socket[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.write(`GET /v2/session/${encodeURIComponent(key)}/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
      await once(socket, 'data');
      return socket.resume();
    }),
  );
}

/** The longest and the median gap between the deltas of one streamed turn, ms. */
async function streamedTurn(): Promise<{ gap: number; longest: number }> {
  const request = { body: envelope('mock-n400-gap5'), headers: { accept: 'text/event-stream' }, timeoutMs: 60_000 };
  const response = await openRequest(`${url}/v2/handle`, request);
  const gaps: number[] = [];
  let last = performance.now();
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
    if (!chunk.includes('event: delta')) continue;
    gaps.push(performance.now() - last);
    last = performance.now();
  }
  return { gap: median(gaps), longest: Math.max(...gaps.slice(1)) };
}

async function shortTurns(count: number): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const since = performance.now();
    await requestJson(`${url}/v2/handle`, { body: envelope('mock-n64'), timeoutMs: 10_000 });
    times.push(performance.now() - since);
  }
  return median(times);
}

type Figures = { streamCpu: number; gap: number; longest: number; turnCpu: number; turnMs: number };

async function measure(pid: number, count: number): Promise<Figures> {
  const sockets = await openWatchers(count);
  const cpu = () => usageOf([pid]).cpuMs;
  const before = cpu();
  const streamed = await streamedTurn();
  const between = cpu();
  const turnMs = await shortTurns(Number(values.turns));
  const turnCpu = (cpu() - between) / Number(values.turns);
  for (const socket of sockets) socket.destroy();
  return { streamCpu: between - before, ...streamed, turnCpu, turnMs };
}

const dir = mkdtempSync(path.join(tmpdir(), 'svc-watchers-'));
const core = await startCore(dir);
try {
  await shortTurns(300);
  const found = new Map<number, Figures[]>();
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const count of values.watchers.split(',').map(Number)) {
      const figures = await measure(core.pid ?? 0, count);
      found.set(count, [...(found.get(count) ?? []), figures]);
    }
  }
  for (const [count, list] of found) {
    const of = (name: keyof Figures) => median(list.map((one) => one[name])).toFixed(2);
    const streamed = `streamed turn ${of('streamCpu')} ms CPU, gap ${of('gap')} ms, longest ${of('longest')} ms`;
    console.log(`${count} watchers: ${streamed}; short turn ${of('turnCpu')} ms CPU, ${of('turnMs')} ms`);
  }
} finally {
  core.kill('SIGKILL');
  await once(core, 'exit');
  rmSync(dir, { recursive: true });
}
