import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Backup } from '@svc/contract/backup.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { Backups } from '../src/backup/backups.ts';
import { fill, openBackupBench } from './open-backup-bench.ts';

const bench = openBackupBench();
const { ask, inData, list, makeBackup, open } = bench;

describe('list of backups', () => {
  test('describes each backup, serves ranges of it, and drops it when it is deleted', async () => {
    await open({ before: fill });
    const { id, archive } = await makeBackup();
    const [backup] = (await list()).backups;
    expect(backup).toEqual({
      id,
      state: 'done',
      created_at: expect.any(Number),
      finished_at: expect.any(Number),
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      scheduled: false,
      has_secrets: false,
      bytes: archive.length,
      files: 5,
      sha256: createHash('sha256').update(archive).digest('hex'),
      error: null,
      progress: null,
    });
    const part = await bench.core.app.inject({ url: `/v2/backups/${id}`, headers: { range: 'bytes=10-19' } });
    expect(part.statusCode).toBe(206);
    expect(part.rawPayload).toEqual(archive.subarray(10, 20));
    expect(part.headers['content-disposition']).toMatch(/^attachment; filename="?svc-backup-\d{8}T\d{4}\.tar\.gz"?$/);
    expect((await ask('DELETE', `/v2/backups/${id}`)).json()).toEqual({ ok: true });
    expect((await ask('GET', `/v2/backups/${id}`)).statusCode).toBe(404);
    expect(readdirSync(inData('backups'))).toEqual([]);
    for (const wrong of ['bak_nothere', '..%2f..%2fcore.db', `${id}.json`]) {
      expect((await ask('GET', `/v2/backups/${wrong}`)).statusCode, wrong).toBe(404);
      expect((await ask('DELETE', `/v2/backups/${wrong}`)).statusCode, wrong).toBe(404);
    }
  });

  test('includes the running backup, during which a second one and its deletion are refused', async () => {
    await open();
    const { id } = (await ask('POST', '/v2/backups')).json<{ id: string }>();
    expect((await ask('POST', '/v2/backups')).statusCode).toBe(409);
    expect((await ask('DELETE', `/v2/backups/${id}`)).statusCode).toBe(409);
    expect((await list()).backups[0]).toMatchObject({ state: 'running', progress: { total: expect.any(Number) } });
    await bench.core.context.backups.settled();
  });

  test('marks a backup interrupted by a stop as failed and removes its partial files', async () => {
    await open();
    bench.core.context.backups.create();
    await bench.core.context.backups.close();
    expect((await list()).backups[0]).toMatchObject({ state: 'failed', error: 'The service was stopped during the backup.' });
    expect(readdirSync(inData('backups')).filter((name) => !name.endsWith('.json'))).toEqual([]);
  });

  test('marks a backup left unfinished by a killed service as failed', async () => {
    await open();
    const { id } = await makeBackup();
    const note = JSON.parse(readFileSync(inData('backups', `${id}.json`), 'utf8')) as Backup;
    const left = note.id.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
    writeFileSync(inData('backups', `${left}.json`), JSON.stringify({ ...note, id: left, state: 'running' }));
    writeFileSync(inData('backups', `${left}.tar.gz.part`), 'half');
    const again = new Backups({ ...bench.core.context, version: '0.1.0', holdFiles: () => () => undefined });
    again.recover();
    expect(again.read(left)).toMatchObject({ state: 'failed', error: 'The service ended during the backup.' });
    expect(existsSync(inData('backups', `${left}.tar.gz.part`))).toBe(false);
  });
});

describe('scheduled backups', () => {
  test('are made when due, and the oldest of them are pruned', async () => {
    let now = Date.now();
    const clock: Clock = { ...systemClock, now: () => now };
    await open({ clock, env: { SVC_BACKUP_EVERY_HOURS: '24', SVC_BACKUP_KEEP: '2' } });
    const { backups } = bench.core.context;
    const byHand = backups.create();
    await backups.settled();
    const ids: string[] = [];
    for (let day = 0; day < 4; day++) {
      expect(backups.isDue()).toBe(true);
      ids.push(backups.create({ scheduled: true }).id);
      expect(backups.isDue()).toBe(false);
      await backups.settled();
      expect(backups.isDue()).toBe(false);
      now += 24 * 3_600_000;
    }
    const left = backups.list().map(({ id }) => id);
    expect(new Set(left)).toEqual(new Set([...ids.slice(2), byHand.id]));
    expect(backups.notices()).toEqual([]);
  });

  test('are reported and retried after an hour when they fail', async () => {
    let now = Date.now();
    const clock: Clock = { ...systemClock, now: () => now };
    await open({ clock, before: (folder) => writeFileSync(path.join(folder, 'manager.db'), 'no database at all') });
    const { backups } = bench.core.context;
    backups.create({ scheduled: true });
    await backups.settled();
    expect(backups.notices()).toEqual([expect.stringContaining('The last scheduled backup failed: ')]);
    expect((await ask('GET', '/health')).json<{ notices: string[] }>().notices).toEqual(backups.notices());
    expect(backups.isDue()).toBe(false);
    now += 3_600_001;
    expect(backups.isDue()).toBe(true);
    expect(readdirSync(inData('backups')).filter((name) => !name.endsWith('.json'))).toEqual([]);
  });

  test('are made on time after a clock was years ahead, and prune those from the wrong time first', async () => {
    const day = 24 * 3_600_000;
    let now = Date.now() + 3 * 365 * day;
    await open({ env: { SVC_BACKUP_EVERY_HOURS: '24', SVC_BACKUP_KEEP: '2' } });
    const wrong = vi.spyOn(Date, 'now').mockImplementation(() => now); // ids contain the time, too
    onTestFinished(() => wrong.mockRestore());
    const { backups } = bench.core.context;
    const make = async () => {
      expect(backups.isDue()).toBe(true);
      const { id } = backups.create({ scheduled: true });
      await backups.settled();
      expect(backups.isDue()).toBe(false);
      now += day;
      return id;
    };
    await make();
    await make();
    now -= 3 * 365 * day;
    const right = [await make(), await make()];
    expect(new Set(backups.list().map(({ id }) => id))).toEqual(new Set(right));
  });

  test('are not made when the setting is 0', async () => {
    await open({ env: { SVC_BACKUP_EVERY_HOURS: '0' } });
    expect(bench.core.context.backups.isDue()).toBe(false);
  });
});
