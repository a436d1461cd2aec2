import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import type { SendResult } from './send-events.ts';
import { Shipper } from './shipper.ts';
import { Spool } from './spool.ts';

const folders: TemporaryFolder[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

const taken: SendResult = { taken: true, rejected: [] };

/** A shipper with a real spool and a collector that answers with `answer`. */
function openShipper(answer: (events: unknown[]) => SendResult | Promise<SendResult> = () => taken, left: string[] = []) {
  const folder = temporaryFolder();
  folders.push(folder);
  const dir = path.join(folder.path, 'spool');
  if (left.length > 0) leaveLines(dir, left);
  const clock = createFakeClock();
  const sent: unknown[][] = [];
  const losses: number[] = [];
  let delivered = 0;
  let running = 0;
  const spool = new Spool(dir, 'core', (lines) => losses.push(lines));
  const shipper = new Shipper({
    spool,
    clock,
    log: { info: () => {}, warn: () => {} },
    onLoss: (events) => losses.push(events),
    onDelivered: () => delivered++,
    async send(json) {
      expect(++running).toBe(1);
      const events = JSON.parse(json.toString()) as unknown[];
      sent.push(events);
      try {
        return await answer(events);
      } finally {
        running--;
      }
    },
  });
  const emit = (...values: unknown[]) => {
    for (const value of values) spool.append(JSON.stringify(value));
    shipper.wake();
  };
  const pass = async (ms: number) => {
    clock.advance(ms);
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };
  return { spool, shipper, sent, losses, emit, pass, delivered: () => delivered };
}

/** Writes lines to the spool as an earlier process. */
function leaveLines(dir: string, lines: string[]): void {
  const spool = new Spool(dir, 'core', () => {});
  for (const line of lines) spool.append(line);
  spool.close();
}

const away = () => Promise.reject(new Error('ECONNREFUSED'));

test('sends events of 100 ms in one batch', async () => {
  const { sent, emit, pass } = openShipper();
  emit(1, 2);
  await pass(99);
  expect(sent).toEqual([]);
  emit(3);
  await pass(1);
  expect(sent).toEqual([[1, 2, 3]]);
  await pass(60_000);
  expect(sent).toHaveLength(1);
});

test('sends at most 400 events per batch, and a backlog without waiting', async () => {
  const { sent, emit, pass } = openShipper();
  emit(...Array.from({ length: 1200 }, (_, i) => i));
  await pass(100);
  await pass(10);
  await pass(10);
  expect(sent.map((batch) => batch.length)).toEqual([400, 400, 400]);
});

test('backs off to 5 s while the collector is away, and loses nothing', async () => {
  let isAway = true;
  const { sent, emit, pass, shipper, spool } = openShipper(() => (isAway ? away() : taken));
  emit('kept');
  for (let i = 0; i < 120; i++) await pass(1000);
  expect(shipper.isAway).toBe(true);
  expect(shipper.lastError).toBe('ECONNREFUSED');
  expect(sent.length).toBeGreaterThan(20);
  expect(sent.length).toBeLessThan(35);
  isAway = false;
  await pass(5000);
  expect(sent.at(-1)).toEqual(['kept']);
  expect(spool.unsent).toBe(0);
  expect(shipper.isAway).toBe(false);
});

test('counts a rejected event, and does not send it again', async () => {
  const { sent, emit, pass, losses, delivered } = openShipper(() => ({
    taken: true,
    rejected: [{ index: 1, error: 'ts is wrong' }],
  }));
  emit('good', 'bad');
  await pass(100);
  await pass(60_000);
  expect(sent).toHaveLength(1);
  expect(losses).toEqual([1]);
  expect(delivered()).toBe(0);
});

test('halves a rejected batch until only the invalid event is dropped', async () => {
  const arrived: unknown[] = [];
  const { emit, pass, losses } = openShipper((events) => {
    if (events.includes('bad')) return { taken: false, error: 'too large' };
    arrived.push(...events);
    return taken;
  });
  emit(1, 2, 3, 'bad', 4, 5);
  for (let i = 0; i < 20; i++) await pass(100);
  expect(arrived).toEqual([1, 2, 3, 4, 5]);
  expect(losses).toEqual([1]);
});

test('drops only the damaged line of an earlier process', async () => {
  const { spool, shipper, sent, pass, losses } = openShipper(() => taken, ['{"broken', '"whole"']);
  shipper.wake();
  await pass(100);
  expect(sent).toEqual([['whole']]);
  expect(losses).toEqual([1]);
  expect(spool.unsent).toBe(0);
});

test('close() sends everything at once, and does not retry when the collector is away', async () => {
  const open = openShipper();
  open.emit(...Array.from({ length: 700 }, (_, i) => i));
  await Promise.all([open.shipper.close(1000), open.shipper.close(1000)]);
  expect(open.sent.map((batch) => batch.length)).toEqual([400, 300]);

  const gone = openShipper(away);
  gone.emit(1);
  await gone.shipper.close(1000);
  expect(gone.sent).toHaveLength(1);
  expect(gone.spool.unsent).toBe(1);
});
