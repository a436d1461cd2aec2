import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import type { SearchAnswer } from '@svc/contract/insights.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { freePort } from '@svc/testing/free-ports.ts';
import { killHard } from '@svc/testing/kill-hard.ts';
import { startCollectorProcess } from './processes.ts';

/** How often the collector is killed; `svc test --deep` does it a hundred times. */
const kills = process.env['TEST_DEEP'] === '1' ? 100 : 6;

let folder: TemporaryFolder;
let port: number;
let collector: ChildProcess;
beforeEach(async () => {
  folder = temporaryFolder();
  port = await freePort();
});
afterEach(async () => {
  await killHard(collector);
  folder.remove();
});

type Event = {
  id: string;
  ts: number;
  kind: string;
  surface: string;
  session: string;
  identity: string;
  text: string;
  payload: object;
  cost_usd: number;
};
const hourMs = 3_600_000;
const start = Math.floor(Date.now() / hourMs) * hourMs - 5 * hourMs;

const eventAt = (n: number): Event => ({
  id: `e${n}`,
  ts: start + ((n * 7919) % (4 * hourMs)),
  kind: n % 3 === 0 ? 'token-usage' : n % 3 === 1 ? 'inbound' : 'tool',
  surface: ['compat', 'messenger'][n % 2] ?? '',
  session: `s${n % 40}`,
  identity: `p${n % 7}`,
  text: `word${n % 10} of event ${n}`,
  payload:
    n % 3 === 0 ? { input_tokens: n % 11, output_tokens: 1 } : n % 3 === 1 ? {} : { input: { file_path: `/r/f${n % 50}` } },
  cost_usd: 0.25,
});

/** Sends batches until the collector dies; gives back those that were not acknowledged, which may or may not be stored. */
async function sendUntilKilled(batches: Event[][]): Promise<Event[][]> {
  const left: Event[][] = [];
  let isDead = false;
  const sender = async () => {
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
      const request = { body: batch, timeoutMs: 10_000 };
      const answer = isDead
        ? null
        : await requestJson<{ ingested: number }>(`http://127.0.0.1:${port}/ingest`, request).catch(() => null);
      if (answer?.status === 200) acknowledged.push(...batch);
      else {
        isDead = true;
        left.push(batch);
      }
    }
  };
  await Promise.all(Array.from({ length: 5 }, sender));
  return left;
}
const acknowledged: Event[] = [];

function readStore<T>(read: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path.join(folder.path, 'collector.db'));
  try {
    return read(db);
  } finally {
    db.close();
  }
}
const rows = (db: DatabaseSync, sql: string) =>
  db
    .prepare(sql)
    .all()
    .map((row) => ({ ...row }));

test(`${kills} kills of the collector in the middle of batches lose and duplicate no event, and its sums match the events`, async () => {
  let next = 0;
  let left: Event[][] = [];
  for (let round = 0; round < kills; round++) {
    collector = await startCollectorProcess(folder.path, port);
    const fresh = Array.from({ length: 30 }, () => Array.from({ length: 60 }, () => eventAt(next++)));
    const sending = sendUntilKilled([...left, ...fresh]);
    await sleep(Math.random() * 60);
    await killHard(collector);
    left = await sending;
    if (round % 20 !== 0) continue;
    readStore((db) => {
      expect(rows(db, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      const stored = new Set(rows(db, 'SELECT id FROM event').map(({ id }) => id));
      expect(acknowledged.filter(({ id }) => !stored.has(id))).toEqual([]);
    });
  }
  collector = await startCollectorProcess(folder.path, port);
  expect(await sendUntilKilled(left)).toEqual([]);
  let found: SearchAnswer;
  do found = (await requestJson<SearchAnswer>(`http://127.0.0.1:${port}/api/search?q=word3`, { timeoutMs: 30_000 })).body;
  while (!found.complete);
  await killHard(collector);

  readStore((db) => {
    expect(rows(db, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(rows(db, 'SELECT count(*) AS n, count(DISTINCT id) AS ids FROM event')).toEqual([{ n: next, ids: next }]);
    expect(found.hits).toBe(
      Math.min(10_000, Number(rows(db, "SELECT count(*) AS n FROM event WHERE text LIKE 'word3 %'")[0]?.['n'])),
    );
    const recount = `SELECT ts - ts % ${hourMs} AS bucket_hour, surface, identity, count(*) AS turns,
        sum(json_extract(payload, '$.input_tokens')) AS input_tokens, sum(json_extract(payload, '$.output_tokens')) AS output_tokens,
        sum(cost_usd) AS cost_usd FROM event WHERE kind = 'token-usage' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;
    const sums =
      'SELECT bucket_hour, surface, identity, turns, input_tokens, output_tokens, cost_usd FROM usage_rollup ORDER BY 1, 2, 3';
    expect(rows(db, sums)).toEqual(rows(db, recount));
    const byDay = (table: string, bucket: string) =>
      `SELECT ${bucket} AS day, identity, sum(turns) AS turns, sum(cost_usd) AS cost_usd FROM ${table} GROUP BY 1, 2 ORDER BY 1, 2`;
    expect(rows(db, byDay('usage_day', 'bucket_day'))).toEqual(
      rows(db, byDay('usage_rollup', 'bucket_hour - bucket_hour % 86400000')),
    );
    expect(rows(db, byDay('usage_period', 'bucket_period'))).toEqual(
      rows(db, byDay('usage_rollup', 'bucket_hour - bucket_hour % 2592000000')),
    );
    const ofEvents = 'SELECT session, count(*) AS events, min(ts) AS first, max(ts) AS last FROM event GROUP BY 1 ORDER BY 1';
    const ofSessions =
      'SELECT conversation_key AS session, events, first_event_at AS first, last_event_at AS last FROM session ORDER BY 1';
    expect(rows(db, ofSessions)).toEqual(rows(db, ofEvents));
    const touches = 'SELECT sum(times) AS n FROM touch';
    expect(rows(db, touches)).toEqual(rows(db, "SELECT count(*) AS n FROM event WHERE kind = 'tool'"));
  });
}, 600_000);
