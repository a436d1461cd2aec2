import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openCollectorDb } from '../apps/collector/src/db/open-collector-db.ts';
import { parseEvent, type StoredEvent } from '../apps/collector/src/ingest/parse-event.ts';
import { createEventsWriter } from '../apps/collector/src/ingest/write-events.ts';
import { systemClock } from '../packages/service-kit/src/clock.ts';

/**
 * How long the collector's read routes take on a large store: makes one of `--events` (default 1,000,000) with the
 * collector's own writer, adds sessions that are at work now, starts a collector on it, waits for the search index, and asks every route `--times` times.
 * `--dir` keeps the store in a folder, and uses the one that is there. Prints a table, in milliseconds.
 */
const { values } = parseArgs({
  options: { events: { type: 'string', default: '1000000' }, dir: { type: 'string' }, times: { type: 'string', default: '21' } },
});
const wanted = Number(values.events);
const dir = values.dir ?? mkdtempSync(path.join(tmpdir(), 'insights-'));
mkdirSync(dir, { recursive: true });
const file = path.join(dir, 'collector.db');
const port = 3917;
const url = `http://127.0.0.1:${port}`;
const yearMs = 365 * 24 * 3_600_000;
const end = Date.now();
const rare = wanted / 50;

const words = Array.from({ length: 20_000 }, (_, i) => `w${((i * 7919) % 100_003).toString(36)}`);
let seed = 1;
const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
/** Few words are frequent and most are rare, as in a language. */
const text = (): string => Array.from({ length: 40 }, () => words[Math.floor(words.length * random() ** 3)] ?? '').join(' ');

function eventAt(n: number): StoredEvent {
  const session = `compat:compat:${Math.floor(random() ** 2 * 50_000)}`;
  const common = {
    id: `e${n}`,
    ts: Math.floor(end - yearMs + (yearMs * n) / wanted),
    surface: ['compat', 'messenger', 'chatroom'][n % 3],
    session,
  };
  const identity = `person${Math.floor(random() * 300)}`;
  const kind = ['inbound', 'outbound', 'token-usage', 'tool', 'delivery'][n % 50 === 0 ? 4 : n % 4] ?? 'inbound';
  const payload =
    kind === 'token-usage'
      ? { input_tokens: 100, output_tokens: 50 }
      : kind === 'tool'
        ? { input: { file_path: `/home/me/repo${n % 40}/src/file${n % 5000}.ts` } }
        : {};
  const said =
    kind === 'inbound' || kind === 'outbound'
      ? `${text()}${n % rare === 8 ? ' needle' : ''}${n % 10 === 1 ? ' everywhere' : ''}`
      : null;
  return stored({ ...common, identity, kind, payload, text: said, cost_usd: 0.01 });
}

function stored(event: { id: string } & Record<string, unknown>): StoredEvent {
  const parsed = parseEvent(event, { now: Date.now(), nextId: () => event.id });
  if ('error' in parsed) throw new Error(parsed.error);
  return parsed.event;
}

/** Sessions that were asked something in the last ten minutes, and what their tools touched in the last hour. */
const liveSessions = 400;
const liveTouches = 20;
const repos = Array.from({ length: 40 }, (_, i) => path.join(dir, 'repos', `repo${i}`));

function addLive(): void {
  for (const repo of repos) mkdirSync(path.join(repo, '.git'), { recursive: true });
  const { db } = openCollectorDb(file, { clock: systemClock, log: { warn: () => undefined }, durability: 'normal' });
  const write = createEventsWriter(db);
  const now = Date.now();
  for (let s = 0; s < liveSessions; s++) write(liveEvents(s, now));
  db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.raw.close();
}

function liveEvents(s: number, now: number): StoredEvent[] {
  const common = { surface: 'messenger', session: `messenger:m:user:${s}`, identity: `person${s % 300}` };
  const touches = Array.from({ length: liveTouches }, (_, t) => ({
    kind: 'tool',
    ts: Math.floor(now - random() * 3_600_000),
    text: 'Edit',
    payload: { input: { file_path: path.join(repos[(s + (t % 3)) % repos.length] ?? '', `src/file${t}.ts`) } },
  }));
  const asked = { kind: 'inbound', ts: Math.floor(now - random() * 600_000), text: text() };
  const turn = { kind: 'turn', ts: now, payload: { what: s % 20 === 0 ? 'started' : 'ended' } };
  return [...touches, asked, turn].map((event, i) => stored({ ...common, ...event, id: `live-${now}-${s}-${i}` }));
}

function makeStore(): void {
  const { db } = openCollectorDb(file, { clock: systemClock, log: { warn: () => undefined }, durability: 'normal' });
  // Nobody needs it should the machine fail meanwhile.
  db.raw.exec('PRAGMA synchronous=OFF; PRAGMA cache_size=-1048576; PRAGMA wal_autocheckpoint=100000');
  const write = createEventsWriter(db);
  const begun = performance.now();
  for (let n = 0; n < wanted; n += 1000) {
    write(Array.from({ length: Math.min(1000, wanted - n) }, (_, i) => eventAt(n + i)));
    if (n % 1_000_000 === 0) db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }
  db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.raw.close();
  console.log(
    `${wanted} events in ${((performance.now() - begun) / 1000).toFixed(0)} s, ${(statSync(file).size / 1e6).toFixed(0)} MB`,
  );
}

const place = (sorted: readonly number[], share: number) => (sorted[Math.ceil(sorted.length * share) - 1] ?? 0).toFixed(1);

/** A row of the table: the first answer, and the middle and the slow end of those after it. */
async function timed(route: string): Promise<string> {
  const times: number[] = [];
  let note = '';
  for (let i = 0; i < Number(values.times); i++) {
    const begun = performance.now();
    const answer = await fetch(url + route);
    const body = await answer.text();
    times.push(performance.now() - begun);
    const { hits, capped } = (body.startsWith('{') ? JSON.parse(body) : {}) as { hits?: number; capped?: boolean };
    note = `${answer.status}, ${(body.length / 1024).toFixed(0)} KB${hits === undefined ? '' : `, ${capped === true ? 'at least ' : ''}${hits} hits`}`;
  }
  const [first = 0, ...others] = times;
  const sorted = others.toSorted((a, b) => a - b);
  return `| \`${route}\` | ${first.toFixed(1)} | ${place(sorted, 0.5)} | ${place(sorted, 0.95)} | ${note} |`;
}

if (!existsSync(file)) makeStore();
addLive();
const env = {
  ...process.env,
  SVC_DATA_DIR: dir,
  SVC_COLLECTOR_PORT: String(port),
  SVC_LOG_LEVEL: 'error',
  SVC_RETENTION_DAYS: '0',
};
const collector = fork(path.join(import.meta.dirname, '../apps/collector/src/main.ts'), {
  env,
  stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
});
await once(collector, 'message');
const begunIndex = performance.now();
for (;;) {
  const { complete } = (await (await fetch(`${url}/api/search?q=needle`)).json()) as { complete: boolean };
  if (complete) break;
  await new Promise((resolve) => setTimeout(resolve, 1000));
}
console.log(
  `index complete after ${((performance.now() - begunIndex) / 1000).toFixed(0)} s, ${(statSync(path.join(dir, 'collector-search.db')).size / 1e6).toFixed(0)} MB`,
);
const recent = end - yearMs / 100;
const month = end - 30 * 24 * 3_600_000;
console.log('| route | first | p50 | p95 | answer |\n|---|---|---|---|---|');
for (const route of [
  '/api/events',
  '/api/events?limit=1000',
  '/api/events?session=compat:compat:7&limit=100',
  '/api/events?identity=person7&surface=compat',
  '/api/events?surface=chatroom&identity=nobody',
  `/api/events?since=${recent}&limit=1000`,
  '/api/sessions?limit=1000',
  '/api/sessions?active=1',
  '/api/usage',
  `/api/usage?since=${month}`,
  `/api/usage/people?since=${month}`,
  '/api/usage/people',
  '/api/system',
  '/api/notifications',
  '/api/brief',
  '/api/map',
  `/api/who?path=${repos[7]}`,
  '/api/who?path=/home/me/repo7',
  '/api/who?path=/home/me/repo7&since=0',
  '/api/who?path=/home/me/repo7/src/file47.ts&since=0',
  '/api/who?path=/',
  '/api/who?path=/&since=0',
  '/api/control/audit',
  '/api/search?q=needle',
  '/api/search?q=everywhere',
  `/api/search?q=everywhere&since=${recent}`,
  `/api/search?q=${words[0]}%20${words[3]}`,
  `/api/search?q=%22${words[0]}%20${words[1]}%22`,
  '/api/search?q=need*',
  '/api/search?q=w1*',
  '/api/search?q=w*',
  `/api/search?q=w*&since=${recent}`,
  '/api/search?q=nowhere',
  '/api/search?q=everywhere%20-needle',
  '/metrics',
])
  console.log(await timed(route).catch((error: unknown) => `| \`${route}\` | ${String(error)} |`));
collector.kill('SIGTERM');
await once(collector, 'exit');
if (values.dir === undefined) rmSync(dir, { recursive: true, force: true });
