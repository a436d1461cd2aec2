import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '@svc/service-kit/clock.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { createLog } from '@svc/service-kit/log.ts';
import { noMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { createTelemetry } from '@svc/service-kit/telemetry/create-telemetry.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { freePort } from '@svc/testing/free-ports.ts';
import { killHard } from '@svc/testing/kill-hard.ts';
import { startCollectorProcess, startEmitter } from './processes.ts';

let folder: TemporaryFolder;
let port: number;
let collector: ChildProcess;
const children: ChildProcess[] = [];
beforeEach(async () => {
  folder = temporaryFolder();
  port = await freePort();
});
afterEach(async () => {
  await Promise.all([...children.splice(0), collector].map(killHard));
  folder.remove();
});

const url = () => `http://127.0.0.1:${port}`;
const dataDir = () => path.join(folder.path, 'data');
const spool = () => path.join(folder.path, 'spool');

/** Reads the stored file itself; nothing writes to it any more. */
function readDatabase<T>(read: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path.join(dataDir(), 'collector.db'));
  try {
    return read(db);
  } finally {
    db.close();
  }
}

const storedIds = () =>
  readDatabase((db) =>
    db
      .prepare('SELECT id FROM event')
      .all()
      .map((row) => String(row['id'])),
  );
const integrity = () => readDatabase((db) => db.prepare('PRAGMA integrity_check').get());

/** Runs an emitter and kills it after about `enough` printed ids. */
async function emitAndKill(enough: number): Promise<string[]> {
  const child = startEmitter(spool(), url());
  children.push(child);
  let output = '';
  child.stdout?.setEncoding('utf8');
  for await (const part of child.stdout ?? []) {
    output += String(part);
    if (output.split('\n').length > enough) child.kill('SIGKILL');
  }
  return output.slice(0, output.lastIndexOf('\n')).split('\n');
}

/** Sends what earlier producers left, as the next start of a producer does. */
async function sendLeftovers() {
  const options = { dir: spool(), producer: 'emitter', collectorUrl: url(), token: null, clock: systemClock, ids: randomIds };
  const telemetry = createTelemetry({ ...options, log: createLog('test', 'silent'), mask: noMask });
  await telemetry.close(20_000);
  return telemetry.status();
}

test('events of a killed producer arrive exactly once, whether or not the collector was running', async () => {
  const emitted: string[] = [];
  for (let round = 0; round < 3; round++) emitted.push(...(await emitAndKill(20 + Math.random() * 60)));
  collector = await startCollectorProcess(dataDir(), port);
  for (let round = 0; round < 3; round++) emitted.push(...(await emitAndKill(100 + Math.random() * 200)));
  await killHard(collector);
  emitted.push(...(await emitAndKill(50)));
  collector = await startCollectorProcess(dataDir(), port);
  expect(await sendLeftovers()).toEqual({ unsent: 0, dropped: 0, collector: 'ok', lastError: null });
  await killHard(collector);

  const stored = storedIds();
  expect(emitted.length).toBeGreaterThan(400);
  expect(new Set(stored).size).toBe(stored.length);
  expect(emitted.filter((id) => !stored.includes(id))).toEqual([]);
  const session = readDatabase((db) => db.prepare('SELECT events FROM session').get());
  expect(session?.['events']).toBe(stored.length);
});

type Answer = { ingested: number };

/** Posts batches from several senders until the collector is gone; gives the ids whose batch was acknowledged. */
async function ingestUntilKilled(killAfter: number, batches: unknown[][]): Promise<Set<unknown[]>> {
  const acknowledged = new Set<unknown[]>();
  const waiting = [...batches];
  const sender = async () => {
    for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
      const answer = await requestJson<Answer>(`${url()}/ingest`, { body: batch, timeoutMs: 10_000 }).catch(() => null);
      if (answer === null) return;
      expect(answer).toMatchObject({ status: 200, body: { ingested: batch.length } });
      acknowledged.add(batch);
      if (acknowledged.size === killAfter) collector.kill('SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: 6 }, sender));
  return acknowledged;
}

test('a collector killed while it stores keeps what it acknowledged, and repeated events count once', async () => {
  const batches = Array.from({ length: 120 }, (_batch, b) =>
    Array.from({ length: 60 }, (_, i) => ({
      id: `${b}-${i}`,
      kind: i % 3 === 0 ? 'token-usage' : 'inbound',
      surface: 'compat',
      session: `s${i % 40}`,
      payload: { input_tokens: 2 },
    })),
  );
  collector = await startCollectorProcess(dataDir(), port);
  const acknowledged = await ingestUntilKilled(10 + Math.floor(Math.random() * 60), batches);
  await killHard(collector);

  expect(acknowledged.size).toBeLessThan(batches.length);
  expect(integrity()).toEqual({ integrity_check: 'ok' });
  const stored = new Set(storedIds());
  const promised = [...acknowledged].flat().map((event) => (event as { id: string }).id);
  expect(promised.filter((id) => !stored.has(id))).toEqual([]);

  collector = await startCollectorProcess(dataDir(), port);
  expect((await ingestUntilKilled(-1, batches)).size).toBe(batches.length);
  await killHard(collector);
  expect(integrity()).toEqual({ integrity_check: 'ok' });
  expect(storedIds()).toHaveLength(7200);
  const sums = readDatabase((db) =>
    db.prepare('SELECT sum(turns) AS turns, sum(input_tokens) AS tokens FROM usage_rollup').get(),
  );
  expect(sums).toEqual({ turns: 2400, tokens: 4800 });
});

test('the collector stops cleanly on SIGTERM, with its events in the database', async () => {
  collector = await startCollectorProcess(dataDir(), port);
  await requestJson(`${url()}/ingest`, { body: { id: 'kept', kind: 'inbound' }, timeoutMs: 5000 });
  const exit = new Promise((resolve) => collector.once('exit', (code) => resolve(code)));
  collector.kill('SIGTERM');
  expect(await exit).toBe(0);
  expect(storedIds()).toEqual(['kept']);
});
