import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { http } from '@svc/service-kit/builtin.ts';
import { openHouse } from '@svc/testing/house.ts';
import { median } from './load.ts';

/**
 * What stays behind after many turns: memory, open files and threads of each process while people, clients and watchers come and go, some of them
 * with errors: a bad key, broken JSON, a stream that is left. `node bench/soak.ts [--minutes 10] [--rate 60] [--every 60]`.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    rate: { type: 'string', default: '60' },
    every: { type: 'string', default: '60' },
  },
});
const endsAt = performance.now() + Number(values.minutes) * 60_000;
const pauseMs = 1000 / Number(values.rate);

const house = await openHouse({
  env: { SVC_OFFLINE_SCRIPT: path.join(import.meta.dirname, 'static-engine.ts'), SVC_LOG_LEVEL: 'warn' },
});
const { core, collector, compat } = house.urls;
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
const key = house.key();

type Call = { method?: string; headers?: Record<string, string>; body?: string | Buffer };

/** Sends a request and reads the answer; with `leavesAfter` only that many pieces of it. Gives the status. */
async function call(url: string, { method = 'GET', headers = {}, body }: Call = {}, leavesAfter = Infinity): Promise<number> {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const request = http.request(url, { agent, method, headers: { ...headers, ...length } });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let pieces = 0;
  for await (const _ of response) if (++pieces >= leavesAfter) break;
  return response.statusCode ?? 0;
}

const json = { 'content-type': 'application/json' };
const completion = (text: string, more: { model?: string; stream?: boolean } = {}): Call => ({
  method: 'POST',
  headers: { ...json, authorization: `Bearer ${key}` },
  body: JSON.stringify({ model: 'mock-n64', messages: [{ role: 'user', content: text }], ...more }),
});
const said = (conversation: string, text: string): Call => ({
  method: 'POST',
  headers: json,
  body: JSON.stringify({
    channel: 'shell',
    conversation_key: conversation,
    message_id: `m-${serial}`,
    sender: { raw_id: process.env['USER'] ?? 'root' },
    content: { text },
    channel_context: { requested_model: 'mock-n64' },
  }),
});

let serial = 0;
const chats = `${compat}/v1/chat/completions`;
const session = (name: string) => `${core}/v2/session/${encodeURIComponent(name)}`;
/** The operations, each with its share in a hundred and the statuses that it may be answered with. */
const operations: { share: number; name: string; expects: number[]; run(n: number): Promise<number> }[] = [
  { share: 40, name: 'a new conversation', expects: [200], run: (n) => call(chats, completion(`soak ${n}`)) },
  { share: 16, name: 'one of a hundred', expects: [200], run: (n) => call(chats, completion(`again ${n % 100}`)) },
  { share: 10, name: 'a stream', expects: [200], run: (n) => call(chats, completion(`stream ${n}`, { stream: true })) },
  {
    share: 6,
    name: 'a stream that is left',
    expects: [200],
    run: (n) => call(chats, completion(`left ${n}`, { stream: true, model: 'mock-n20-gap20' }), 2),
  },
  {
    share: 3,
    name: 'a bad key',
    expects: [401, 429],
    run: () => call(chats, { ...completion('no'), headers: { ...json, authorization: 'Bearer no' } }),
  },
  { share: 3, name: 'broken JSON', expects: [400], run: () => call(chats, { ...completion('no'), body: '{"messages":' }) },
  {
    share: 6,
    name: 'a message of the shell',
    expects: [200],
    run: (n) => call(`${core}/v2/handle`, said(`shell:soak:${n % 500}`, 'hello')),
  },
  { share: 4, name: 'a history', expects: [200], run: () => call(`${core}/v2/sessions?limit=50`) },
  {
    share: 3,
    name: 'a file',
    expects: [200],
    run: (n) =>
      call(`${core}/v2/upload?filename=f${n}.bin&mime=application/octet-stream`, { method: 'POST', body: randomBytes(200_000) }),
  },
  { share: 3, name: 'a search', expects: [200], run: (n) => call(`${collector}/api/search?q=soak+${n % 50}`) },
  { share: 2, name: 'a watcher who leaves', expects: [200], run: () => call(`${collector}/api/stream`, {}, 1) },
  {
    share: 4,
    name: 'a conversation that is forgotten',
    expects: [200],
    async run(n) {
      const name = `shell:gone:${n}`;
      await call(`${core}/v2/handle`, said(name, 'remember this'));
      return await call(session(name), { method: 'DELETE' });
    },
  },
];
const all = operations.flatMap((operation) => Array.from({ length: operation.share }, () => operation));

const pids = {
  core: house.pidOf('core'),
  manager: house.pidOf('manager'),
  collector: house.pidOf('collector'),
  compat: await house.compatPid(),
};
type Sample = { rssMb: number; files: number; threads: number };
function sampleOf(pid: number): Sample {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  return { rssMb: of('VmRSS') / 1024, files: readdirSync(`/proc/${pid}/fd`).length, threads: of('Threads') };
}
const samples: Record<string, Sample[]> = {};
const wrong = new Map<string, number>();

async function look(): Promise<void> {
  for (let at = 0; performance.now() < endsAt; at += Number(values.every)) {
    const now = Object.entries(pids).map(([name, pid]) => {
      const sample = sampleOf(pid);
      (samples[name] ??= []).push(sample);
      return `${name} ${sample.rssMb.toFixed(0)} MB ${sample.files} files ${sample.threads} threads`;
    });
    const sizes = ['core.db', 'collector.db'].map(
      (file) => `${file} ${(statSync(path.join(house.folder, file)).size / 1e6).toFixed(0)} MB`,
    );
    print(`${at} s, ${serial} done: ${[...now, ...sizes].join(', ')}`);
    await sleep(Number(values.every) * 1000);
  }
}

try {
  const looking = look();
  const running = new Set<Promise<void>>();
  while (performance.now() < endsAt) {
    serial++;
    const operation = all[(serial * 37) % all.length]!;
    const work = operation
      .run(serial)
      .catch((error: unknown) => (error as Error).message)
      .then((status) => {
        if (!operation.expects.some((expected) => expected === status))
          wrong.set(`${operation.name}: ${status}`, (wrong.get(`${operation.name}: ${status}`) ?? 0) + 1);
        running.delete(work);
      });
    running.add(work);
    await (running.size >= 64 ? Promise.race(running) : sleep(pauseMs));
  }
  await Promise.all(running);
  await looking;
  for (const [name, list] of Object.entries(samples)) {
    const third = Math.floor(list.length / 3);
    const of = (from: number, to: number) => median(list.slice(from, to).map(({ rssMb }) => rssMb)).toFixed(0);
    print(`${name}: ${of(third, 2 * third)} MB in the second third, ${of(2 * third, list.length)} MB in the last`);
  }
  print(
    wrong.size === 0 ? `${serial} done, each answered as it should be` : `not as they should be: ${JSON.stringify([...wrong])}`,
  );
} finally {
  agent.destroy();
  await house.stop();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
