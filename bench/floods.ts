import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { usageOf } from './process-usage.ts';

/**
 * What floods cost: open and whole bodies of 9.9 MB against the core, connector links with lines of 15 MB, readers of the
 * collector's feed that stopped reading. Prints resident MB before, at the peak and ten seconds after, and how fast
 * `/health` answers meanwhile. `--root` measures another copy of the service.
 */
const { values } = parseArgs({
  options: {
    case: { type: 'string', default: 'bodies,whole,links,readers,sockets,pollers' },
    root: { type: 'string', default: path.join(import.meta.dirname, '..') },
    readers: { type: 'string', default: '1000' },
  },
});
const corePort = 3931;
const collectorPort = 3932;
const bodyBytes = Math.floor(9.9 * 1024 * 1024);

async function start(app: 'core' | 'collector', dir: string): Promise<ChildProcess> {
  const env = {
    PATH: process.env['PATH'],
    HOME: dir,
    SVC_DATA_DIR: dir,
    SVC_CORE_PORT: String(corePort),
    SVC_COLLECTOR_PORT: String(collectorPort),
    SVC_MANAGER_PORT: '3933',
    SVC_DEFAULT_ENGINE: 'offline',
    SVC_LOG_LEVEL: 'error',
    SVC_TRANSCRIPTS: 'off',
  };
  const execArgv = [`--max-semi-space-size=${app === 'core' ? 4 : 2}`];
  const child = fork(path.join(values.root, `apps/${app}/src/main.ts`), {
    env,
    execArgv,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await once(child, 'message');
  return child;
}

/** Runs a flood against a process and prints what it cost. */
async function measure(name: string, child: ChildProcess, flood: () => Promise<string>): Promise<void> {
  await sleep(2000);
  const rss = () => (child.exitCode === null && child.signalCode === null ? usageOf([child.pid ?? 0]).rssMb : Number.NaN);
  const before = rss();
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, rss() || 0)), 20);
  const said = await flood();
  await sleep(10_000);
  clearInterval(watch);
  const after = child.signalCode ?? child.exitCode ?? `${rss().toFixed(0)} MB`;
  console.log(`${name}: before ${before.toFixed(0)} MB, peak ${peak.toFixed(0)} MB, 10 s after ${after}; ${said}`);
}

const socketTo = async (target: number | string): Promise<Socket> => {
  const socket = typeof target === 'number' ? connect(target, '127.0.0.1') : connect(target);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
};

const opening = JSON.stringify({
  channel: 'cli',
  conversation_key: 'flood',
  sender: { raw_id: 'nobody' },
  content: { text: '', transcript: [{ role: 'user', text: '' }] },
});
const envelopeText = opening.replace('"text":""}]', `"text":"${'x'.repeat(bodyBytes - opening.length)}"}]`);
const envelope = Buffer.from(envelopeText);

async function floodBodies(isWhole: boolean): Promise<string> {
  const statuses = new Map<string, number>();
  const begun = performance.now();
  const sockets = await Promise.all(Array.from({ length: 300 }, () => socketTo(corePort)));
  const head = `POST /v2/handle HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${envelope.length}\r\n\r\n`;
  const ends = sockets.map(async (socket) => {
    socket.on('data', (part: Buffer) => {
      const status = /^HTTP\/1\.1 (\d+)/.exec(part.toString('latin1', 0, 16))?.[1];
      if (status !== undefined) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    });
    socket.write(head);
    socket.write(isWhole ? envelope : envelope.subarray(0, -1));
    await once(socket, 'close').catch(() => undefined);
  });
  await Promise.race([Promise.all(ends), sleep(isWhole ? 60_000 : 8000)]);
  const health = await healthMs(corePort, 20);
  const took = performance.now() - begun;
  for (const socket of sockets) socket.destroy();
  return `${JSON.stringify(Object.fromEntries(statuses))} in ${(took / 1000).toFixed(1)} s, /health p99 ${health.toFixed(0)} ms`;
}

async function floodLinks(dir: string): Promise<string> {
  const line = Buffer.alloc(15 * 1000 * 1000, 0x78);
  const sockets = await Promise.all(Array.from({ length: 230 }, () => socketTo(path.join(dir, 'run/core.sock'))));
  let closed = 0;
  for (const socket of sockets) {
    socket.on('close', () => closed++);
    socket.resume();
    socket.write(line);
  }
  await sleep(8000);
  const closedByCore = closed;
  const health = await healthMs(corePort, 20).catch(() => Number.NaN);
  for (const socket of sockets) socket.destroy();
  return `${closedByCore} links were closed, /health p99 ${health.toFixed(0)} ms`;
}

async function openStream(): Promise<Socket> {
  const socket = await socketTo(collectorPort);
  socket.pause();
  socket.write('GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
  return socket;
}

/** Socket.IO over WebSocket; reads what it has to, to be taken for a reader. */
async function openSocket(): Promise<Socket> {
  const socket = await socketTo(collectorPort);
  const head = 'Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';
  socket.write(
    `GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\n${head}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  await once(socket, 'data');
  socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x34, 0x30])); // "40": joins
  await once(socket, 'data');
  socket.pause();
  return socket;
}

/** Socket.IO over long polling, which never polls again once it has joined. */
async function openPoller(): Promise<Socket> {
  const url = `http://127.0.0.1:${collectorPort}/socket.io/?EIO=4&transport=polling`;
  const { sid } = JSON.parse((await (await fetch(url)).text()).slice(1)) as { sid: string };
  await (await fetch(`${url}&sid=${sid}`, { method: 'POST', body: '40' })).text();
  return socketTo(collectorPort);
}

/** Readers that never read, while events come. */
async function floodReaders(count: number, open: () => Promise<Socket>): Promise<string> {
  const quiet = await healthMs(collectorPort, 200);
  const sockets: Socket[] = [];
  for (let n = 0; n < count; n += 50) sockets.push(...(await Promise.all(Array.from({ length: 50 }, open))));
  await sleep(1000);
  let goesOn = true;
  const ingesting = (async () => {
    for (let n = 0; goesOn; n++) {
      const events = Array.from({ length: 100 }, (_, i) => ({
        kind: 'tool',
        session: `s${i}`,
        text: 'y'.repeat(500),
        payload: { n },
      }));
      await fetch(`http://127.0.0.1:${collectorPort}/ingest`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(events),
      });
      await sleep(50);
    }
  })();
  const loaded = await healthMs(collectorPort, 400);
  goesOn = false;
  await ingesting;
  for (const socket of sockets) socket.destroy();
  return `/health p99 ${quiet.toFixed(0)} ms without, ${loaded.toFixed(0)} ms with ${count} readers that do not read`;
}

/** The 99th percentile of some answers of `/health`, one after the other, ms. */
async function healthMs(port: number, times: number): Promise<number> {
  const all: number[] = [];
  for (let n = 0; n < times; n++) {
    const begun = performance.now();
    await (await fetch(`http://127.0.0.1:${port}/health`)).text();
    all.push(performance.now() - begun);
    await sleep(10);
  }
  return all.toSorted((a, b) => a - b)[Math.floor(all.length * 0.99)] ?? 0;
}

async function run(name: string, app: 'core' | 'collector', flood: (dir: string) => Promise<string>): Promise<void> {
  if (!values.case.split(',').includes(name)) return;
  const dir = mkdtempSync(path.join(tmpdir(), 'floods-'));
  const child = await start(app, dir);
  try {
    await measure(name, child, () => flood(dir));
  } finally {
    child.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  }
}

await run('bodies', 'core', () => floodBodies(false));
await run('whole', 'core', () => floodBodies(true));
await run('links', 'core', floodLinks);
await run('readers', 'collector', () => floodReaders(Number(values.readers), openStream));
await run('sockets', 'collector', () => floodReaders(Number(values.readers), openSocket));
await run('pollers', 'collector', () => floodReaders(Number(values.readers), openPoller));
