import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { VaultAccess } from '@svc/contract/vault.ts';
import { whyNoFaults } from '@svc/testing/inject-fault.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { open } from './open-in-process.ts';

const fixture = path.join(import.meta.dirname, 'fixtures/one-step.ts');
const strace = '/usr/bin/strace';
const agent = { id: 'agt_1', name: 'reader', tier: 'SACRED', created_at: 0, revoked_at: null } as const;
const old = (n: number) => `old value ${n}`;

let folder: TemporaryFolder;
const prepared = () => path.join(folder.path, 'prepared');
beforeAll(async () => {
  folder = temporaryFolder();
  const { context, passphrase } = await open(prepared());
  await context.lifecycle.init(passphrase);
  for (let n = 0; n < 6; n++) await context.credentials.put(`SECRET_${n}`, old(n), 'SACRED');
  await context.close();
});
afterAll(() => folder.remove());

/** Runs one step on a fresh copy, with a fault injected into a system call on the vault's files. */
function runStep(step: string, inject: string) {
  const dir = path.join(folder.path, 'copy');
  cpSync(prepared(), dir, { recursive: true, force: true });
  const files = ['vault.db', 'vault.db-wal'].flatMap((name) => ['-P', path.join(dir, 'vault', name)]);
  const [call] = inject.split(':');
  const args = ['-f', '-qq', '-o', '/dev/null', ...files, '-e', `trace=${call}`, '-e', `inject=${inject}`];
  const { status, signal, stdout } = spawnSync(strace, [...args, process.execPath, fixture, dir, step], { encoding: 'utf8' });
  return { dir, stdout, isKilled: signal === 'SIGKILL' || status === 137, status };
}

/** What the vault holds now, opened with either passphrase. */
async function readAll(dir: string): Promise<{ values: string[]; accesses: VaultAccess[] }> {
  const { context, passphrase, nextPassphrase } = await open(dir, {
    elapsed: () => performance.now(),
    now: () => Date.now() + 3_600_000, // a try that was cut off counts, and has to be waited for
    after: () => () => undefined,
    every: () => () => undefined,
  });
  await context.lifecycle.unseal(passphrase).catch(async (error: unknown) => {
    expect(error).toMatchObject({ code: 'forbidden' });
    context.db.raw.exec('UPDATE vault SET failed_unseals = 0');
    await context.lifecycle.unseal(nextPassphrase);
  });
  const accesses = await context.accessLog.list(100, Number.MAX_SAFE_INTEGER);
  const values: string[] = [];
  for (let n = 0; n < 6; n++) {
    const { token } = await context.tokenExchange.issue(agent, `SECRET_${n}`);
    values.push((await context.tokenExchange.redeem(agent, token)).value);
  }
  expect(context.db.raw.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  await context.close();
  return { values, accesses };
}

/** Every call when there is time for it. */
const stride = process.env['TEST_DEEP'] === '1' ? 1 : 4;
const calls = ['pwrite64', 'fsync', 'fdatasync', 'ftruncate', 'unlink'];

const why = whyNoFaults();
describe.skipIf(why !== null)(`with a fault in a system call${skipNote(why)}`, () => {
  test.each(['put', 'rotate', 'passphrase'])(
    'V09: killed at any write of %s, every secret is there, old or new',
    async (step) => {
      let kills = 0;
      const seen = new Set<string>();
      for (const call of calls) {
        for (let when = 1; ; when += call === 'pwrite64' ? stride : 1) {
          const { dir, isKilled, status } = runStep(step, `${call}:signal=SIGKILL:when=${when}`);
          const { values } = await readAll(dir);
          for (const n of [0, 1, 2, 4, 5]) expect(values[n]).toBe(old(n));
          seen.add(values[3] ?? '');
          if (!isKilled) {
            expect(status).toBe(0);
            expect(values[3]).toBe(step === 'put' ? 'a new value' : old(3));
            break;
          }
          kills++;
        }
      }
      expect(kills).toBeGreaterThan(10);
      expect(seen).toEqual(new Set(step === 'put' ? [old(3), 'a new value'] : [old(3)]));
    },
  );

  test.each(['fsync', 'pwrite64'])('V07: when %s fails, a secret is given only if its access is on record', async (call) => {
    let [given, withheld] = [0, 0];
    for (let when = 1; given < 3; when++) {
      const { dir, stdout } = runStep('read', `${call}:error=EIO:when=${when}+`);
      const { accesses } = await readAll(dir);
      const isOnRecord = accesses.some(({ actor, action, outcome }) => `${actor} ${action} ${outcome}` === 'reader redeem ok');
      if (stdout === old(3)) {
        given++;
        expect(isOnRecord).toBe(true);
      } else {
        withheld++;
        expect(stdout).toBe('');
      }
    }
    expect(withheld).toBeGreaterThan(2);
  });
});
