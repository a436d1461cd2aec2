import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  closeSync,
  constants,
  cpSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { VaultAccess } from '@svc/contract/vault.ts';
import { whyNoFaults } from '@svc/testing/inject-fault.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { usualOrDeep } from '@svc/testing/usual-or-deep.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { open } from './open-in-process.ts';

const fixture = path.join(import.meta.dirname, 'fixtures/one-step.ts');
const strace = '/usr/bin/strace';
const agent = { id: 'agt_1', name: 'reader', tier: 'SACRED', created_at: 0, revoked_at: null } as const;
/** The files of a vault; what SQLite keeps in shared memory, the next process makes again. */
const names = ['vault.db', 'vault.db-wal'];
const calls = ['pwrite64', 'ftruncate', 'unlink'];
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

/** A fresh copy of the prepared vault. */
function copyOfVault(): string {
  const dir = path.join(folder.path, 'copy');
  rmSync(dir, { recursive: true, force: true });
  cpSync(prepared(), dir, { recursive: true });
  return dir;
}

/** Runs one step on a fresh copy, under strace, which sees only the calls on the vault's files. A filter in the kernel lets all others pass. */
function runStep(step: string, ...options: string[]) {
  const dir = copyOfVault();
  const files = names.flatMap((name) => ['-P', path.join(dir, 'vault', name)]);
  const args = ['-f', '--seccomp-bpf', '-qq', ...files, ...options, process.execPath, fixture, dir, step];
  const { status, stdout } = spawnSync(strace, args, { encoding: 'utf8' });
  return { dir, stdout, status };
}

type Change = { call: string; name: string; bytes: Buffer; numbers: number[] };

/** Runs one step, and gives each of its changes to the vault's files, in order. A call of each thread is in a file of its own, with its time. */
function recordStep(step: string): { dir: string; changes: Change[] } {
  const log = path.join(folder.path, 'calls');
  const { dir, status } = runStep(step, '-ff', '-ttt', '-yxx', '-s', '100000', '-o', log, '-e', `trace=${calls.join()}`);
  expect(status).toBe(0);
  const logs = readdirSync(folder.path).filter((name) => name.startsWith('calls.'));
  const lines = logs.flatMap((name) => readFileSync(path.join(folder.path, name), 'utf8').split('\n').filter(Boolean));
  for (const name of logs) rmSync(path.join(folder.path, name));
  return { dir, changes: lines.toSorted().map(readChange) };
}

function readChange(line: string): Change {
  const [, call = '', place = '', bytes = '', numbers = ''] = calledAs.exec(line) ?? [];
  const name = path.basename(fromHex(place).toString());
  expect([calls.includes(call), names.includes(name)], line.slice(0, 200)).toEqual([true, true]);
  return { call, name, bytes: fromHex(bytes), numbers: numbers.split(', ').filter(Boolean).map(Number) };
}

const calledAs = /^[\d.]+ (\w+)\((?:\d+<)?"?([^">]+)"?>?(?:, "([^"]*)")?(?:, ([\d, ]+))?\) = \d+$/;
const fromHex = (text: string) => Buffer.from(text.replaceAll('\\x', ''), 'hex');

/** A vault as a kill leaves it after the first changes of a step: the system keeps what was written, and nothing else has changed. */
function killedAfter(changes: readonly Change[]): string {
  const dir = copyOfVault();
  for (const { call, name, bytes, numbers } of changes) {
    const file = path.join(dir, 'vault', name);
    if (call === 'unlink') rmSync(file);
    else if (call === 'ftruncate') truncateSync(file, numbers[0]);
    else {
      const opened = openSync(file, constants.O_WRONLY | constants.O_CREAT);
      writeSync(opened, bytes, 0, bytes.length, numbers[1]);
      closeSync(opened);
    }
  }
  return dir;
}

const digestsOf = (dir: string) =>
  names.map((name) => {
    const file = path.join(dir, 'vault', name);
    return existsSync(file) ? hash('sha256', readFileSync(file)) : null;
  });

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

/** Of the writes that only add to a log; all of them when there is time for it. */
const stride = usualOrDeep(3, 1);
const errorStride = usualOrDeep(3, 1);

const why = whyNoFaults();
describe.skipIf(why !== null)(`with a fault in a system call${skipNote(why)}`, () => {
  test.each(['put', 'rotate', 'passphrase'])(
    'V09: keeps every secret, old or new, when killed at any write of %s',
    async (step) => {
      const { dir, changes } = recordStep(step);
      const [after, digests] = [step === 'put' ? 'a new value' : old(3), digestsOf(dir)];
      expect((await readAll(dir)).values[3]).toBe(after);
      expect(digestsOf(killedAfter(changes))).toEqual(digests);
      const seen = new Set<string>();
      for (let made = 0; made <= changes.length; made++) {
        const next = changes[made];
        if (next?.call === 'pwrite64' && next.name.endsWith('-wal') && made % stride > 0) continue;
        const { values } = await readAll(killedAfter(changes.slice(0, made)));
        for (const n of [0, 1, 2, 4, 5]) expect(values[n]).toBe(old(n));
        seen.add(values[3] ?? '');
      }
      expect(changes.length).toBeGreaterThan(20);
      expect(seen).toEqual(new Set([old(3), after]));
    },
  );

  test.each(['fsync', 'pwrite64'])('V07: when %s fails, a secret is given only if its access is in the log', async (call) => {
    let [given, withheld] = [0, 0];
    for (let when = 1; given < 3; when += call === 'pwrite64' ? errorStride : 1) {
      const { dir, stdout } = runStep(
        'read',
        '-o',
        '/dev/null',
        '-e',
        `trace=${call}`,
        '-e',
        `inject=${call}:error=EIO:when=${when}+`,
      );
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
