import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite } from '@svc/store/open-sqlite.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { repositoryRoot } from '../repository-root.ts';
import { openLoginFile } from './login-file.ts';
import { setAsideBrokenLogin } from './set-aside-login.ts';

const now = 1_800_000_000_000;

/** The login of a core, with its sessions: id and end. */
async function writeLogin(sessions: Record<string, number> = {}, name: string | null = 'anna'): Promise<string> {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const file = path.join(folder.path, 'login.db');
  const db = openSqlite(file);
  migrate(db, path.join(repositoryRoot, 'apps/core/src/db/login-migrations'));
  const account =
    "INSERT INTO login_account (id, name, password, totp_secret, totp_step, link_hash) VALUES (1, ?, '', '', 0, '')";
  if (name !== null) await db.run(account, name);
  const session = `INSERT INTO login_session (id, device, method, created_at, seen_at, expires_at, proven_at, cookie_hash, header_hash)
    VALUES (?, 'a browser', 'password', ?, 0, ?, 0, ?, '')`;
  let made = 0;
  for (const [id, end] of Object.entries(sessions)) await db.run(session, id, ++made, end, id);
  await db.close();
  return file;
}
const open = (file: string) => {
  const login = openLoginFile(file, now);
  if (login !== null) onTestFinished(() => login.close());
  return login;
};

describe('login file', () => {
  test('reads the name of the operator and the sessions that have not expired, newest first', async () => {
    const login = open(await writeLogin({ first: now + 1, over: now, second: now + 2 }));
    expect(login?.name()).toBe('anna');
    expect(login?.sessions().map(({ id }) => id)).toEqual(['second', 'first']);
  });

  test('has no name before the set-up, and is null without a file', async () => {
    expect(open(await writeLogin({}, null))?.name()).toBeNull();
    expect(open('/no/such/login.db')).toBeNull();
  });

  test('ends the named sessions and counts those that existed', async () => {
    const file = await writeLogin({ a: now + 1, b: now + 1, c: now + 1 });
    expect(open(file)?.end(['a', 'nobody', 'b'])).toBe(2);
    const db = new DatabaseSync(file, { readOnly: true });
    onTestFinished(() => db.close());
    expect(db.prepare('SELECT id FROM login_session').all()).toEqual([{ id: 'c' }]);
  });

  test('that is no database is reported with its path', async () => {
    const file = await writeLogin();
    writeFileSync(file, 'x'.repeat(8192));
    expect(() => open(file)).toThrow(`${file} cannot be read.`);
  });
});

describe('setAsideBrokenLogin()', () => {
  test('leaves an intact login in place, even while another program writes to it, and ignores a missing one', async () => {
    const file = await writeLogin();
    expect(setAsideBrokenLogin(file)).toBeNull();
    const writer = new DatabaseSync(file);
    onTestFinished(() => writer.close());
    writer.exec('BEGIN IMMEDIATE');
    expect(setAsideBrokenLogin(file)).toBeNull();
    expect(open(file)?.name()).toBe('anna');
    expect(setAsideBrokenLogin(path.join(path.dirname(file), 'other.db'))).toBeNull();
  });

  const names = (folder: string) => readdirSync(folder).map((name) => name.replace(/\.\d+$/, ''));

  test('moves a broken database with its write-ahead log, and no other file', async () => {
    const file = await writeLogin();
    const folder = path.dirname(file);
    writeFileSync(file, 'x'.repeat(8192));
    writeFileSync(`${file}-wal`, 'its last writes');
    mkdirSync(path.join(folder, 'login.db-else'));
    writeFileSync(path.join(folder, 'core.db'), 'x');
    const broken = setAsideBrokenLogin(file) ?? '';
    expect(readdirSync(folder).toSorted()).toEqual(['broken', 'core.db', 'login.db-else']);
    expect(statSync(broken).mode & 0o777).toBe(0o700);
    expect(names(broken)).toEqual(expect.arrayContaining(['login.db', 'login.db-wal']));
    const kept = readdirSync(broken).find((name) => name.includes('-wal')) ?? '';
    expect(readFileSync(path.join(broken, kept), 'utf8')).toBe('its last writes');
  });

  test('moves an empty database, whatever is beside it', async () => {
    const file = await writeLogin();
    writeFileSync(file, '');
    writeFileSync(`${file}-wal`, 'of a database that is gone');
    expect(names(setAsideBrokenLogin(file) ?? '')).toContain('login.db');
    expect(existsSync(file)).toBe(false);
  });
});
