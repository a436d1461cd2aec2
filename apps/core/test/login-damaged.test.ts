import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { runSvc } from '@svc/testing/run-svc.ts';
import { loginPage } from './login-page.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
let clock: FakeClock;
afterEach(() => core.close());
const { codeOf, call, newLink, setUp, signIn, verify } = loginPage(
  () => core,
  () => clock,
);

/** A login that was used, then damaged while no core ran. */
async function openBroken(breakFile: (file: string) => void) {
  clock = createFakeClock();
  core = await openTestCore({ clock });
  const made = await setUp();
  const dataDir = core.crash();
  const file = path.join(dataDir, 'login.db');
  const db = new DatabaseSync(file);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
  breakFile(file);
  core = await openTestCore({ clock, dataDir });
  return { ...made, file, dataDir };
}
const health = async () => (await core.app.inject('/health')).json<{ degraded: string[] }>().degraded.join();
const zeroPage = (file: string, page: number): void => {
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(4096), 0, 4096, page * 4096);
  closeSync(handle);
};
const makeOther = (file: string): void => {
  rmSync(file);
  const db = new DatabaseSync(file);
  db.exec('CREATE TABLE login_account (a TEXT)');
  db.close();
};

test.each<[string, (file: string) => void]>([
  ['cut off', (file) => truncateSync(file, Math.floor(statSync(file).size / 2))],
  ['no database', (file) => writeFileSync(file, 'hello, I am no database at all')],
  ['zeroed at its beginning', (file) => zeroPage(file, 0)],
  ['zeroed in its middle', (file) => zeroPage(file, 3)],
  ['one of another program', makeOther],
  ['a folder', (file) => (rmSync(file), mkdirSync(file))],
])('with a login.db that is %s only sign-in fails, and "svc auth reset" repairs it', async (_how, breakFile) => {
  const { login, secret, dataDir, file } = await openBroken(breakFile);
  clock.advance(60_000);
  const tries = [await signIn(codeOf(secret)), await call('verify', null, login), await call('setup', null, newLink(true))];
  for (const answer of tries) {
    expect(answer).toMatchObject({ status: 503, cookies: [] });
    expect(answer.body['message']).toContain('./svc auth reset');
  }
  expect((await core.handle(envelope('hi'))).statusCode).toBe(200);
  expect(await health()).toMatch(/login\.db cannot be used, so nobody can sign in: .*\.\/svc auth reset/);

  const env = { PATH: process.env['PATH'], HOME: dataDir, SVC_DATA_DIR: dataDir };
  expect(await runSvc(['auth', 'reset', '--json'], { env })).toMatchObject({ code: 0 });
  expect(readdirSync(path.join(dataDir, 'broken'))).toContainEqual(expect.stringMatching(/^login\.db/));
  clock.advance(1000);
  await setUp(newLink(true));
  expect(await health()).toBe('');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a login.db that was moved away is no longer used, although it is still open', async () => {
  const { login, file } = await openBroken(() => undefined);
  expect(await verify(login, '?strict=true')).toBe(200);
  renameSync(file, `${file}.old`);
  expect(await verify(login, '?strict=true')).toBe(401);
});

test('"svc auth reset" leaves an intact login in place', async () => {
  const { login, dataDir } = await openBroken(() => undefined);
  const env = { PATH: process.env['PATH'], HOME: dataDir, SVC_DATA_DIR: dataDir };
  expect(await runSvc(['auth', 'reset', '--json'], { env })).toMatchObject({ code: 0 });
  expect(await verify(login, '?strict=true')).toBe(200);
});
