import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Secret, TOTP } from 'otpauth';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeSetupLink } from '@svc/service-kit/setup-link.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openLoginParts } from '../../test/open-login-parts.ts';
import { createNewPasskeys } from './new-passkey.ts';
import { createPasskeyChallenges } from './passkey-challenges.ts';
import { createSeal } from './seal.ts';
import { createSetUp } from './set-up.ts';
import { createSignIn } from './sign-in.ts';

const password = 'correct horse battery staple';
const page = new URL('https://a.example');
const visitor = { device: 'a browser', deviceCookies: [] as string[], setupCookies: [], origin: page };

function open() {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const parts = openLoginParts();
  const events = { login: vi.fn() };
  const signIn = createSignIn({ ...parts, events });
  const challenges = createPasskeyChallenges(parts.seal, parts.clock);
  const newPasskeys = createNewPasskeys({ challenges, ...parts });
  const deps = { ...parts, run: folder.path, signIn, challenges, newPasskeys, events };
  const setUp = createSetUp(deps);
  const newLink = (resets = false) => ({ token: makeSetupLink(folder.path, parts.clock, resets), setupCookies: [] as string[] });
  const begin = async (link: ReturnType<typeof newLink>) => {
    const { state, browser } = await setUp.account(link, 'anna', password);
    const secret = state.step === 'totp' ? state.secret : '';
    const code = () => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: parts.clock.now() });
    return { opener: { ...link, setupCookies: [browser] }, code };
  };
  /** Completes the steps up to the recovery codes. */
  const nearlyDone = async (link = newLink()) => {
    const { opener, code } = await begin(link);
    await setUp.totp(opener, code());
    const [recovery = ''] = await setUp.recoveryCodes(opener);
    return { opener, recovery };
  };
  const finish = async (link = newLink()) => {
    const { opener, recovery } = await nearlyDone(link);
    return { opener, entry: await setUp.finish(opener, recovery, visitor) };
  };
  const told = () => events.login.mock.calls.map(([what, who]) => [what, who] as unknown[]);
  const count = async (table: string) => Number((await parts.db.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))?.n);
  return { ...parts, deps, folder: folder.path, setUp, newLink, begin, nearlyDone, finish, told, count };
}

test('each step requires the one before it and changes nothing otherwise', async () => {
  const { setUp, newLink, begin, count } = open();
  const link = newLink();
  const early = { code: 'conflict' };
  await expect(setUp.totp(link, '000000')).rejects.toMatchObject(early);
  await expect(setUp.passkeyOptions(link, page)).rejects.toMatchObject(early);
  await expect(setUp.passkey(link, page, 'Laptop', {} as never)).rejects.toMatchObject(early);
  await expect(setUp.recoveryCodes(link)).rejects.toMatchObject(early);
  await expect(setUp.finish(link, 'AAAA-AAAA-AAAA', visitor)).rejects.toMatchObject(early);
  const { opener, code } = await begin(link);
  await expect(setUp.recoveryCodes(opener)).rejects.toMatchObject(early);
  await expect(setUp.totp(opener, '000000')).rejects.toMatchObject({ code: 'bad_request' });
  expect((await setUp.state(opener)).step).toBe('totp');
  expect((await setUp.totp(opener, ` ${code()} `)).step).toBe('recovery');
  await expect(setUp.finish(opener, 'AAAA-AAAA-AAAA', visitor)).rejects.toMatchObject(early);
  expect([await count('login_account'), await count('login_session')]).toEqual([0, 0]);
});

test('new recovery codes replace the earlier ones', async () => {
  const { setUp, nearlyDone, accounts } = open();
  const { opener, recovery } = await nearlyDone();
  const codes = await setUp.recoveryCodes(opener);
  await expect(setUp.finish(opener, recovery, visitor)).rejects.toMatchObject({ code: 'bad_request' });
  await setUp.finish(opener, codes[9]?.toLowerCase() ?? '', visitor);
  const good = await Promise.all([recovery, ...codes].map(async (code) => (await accounts.recoveryHash(code)) !== null));
  expect(good).toEqual([false, ...codes.map(() => true)]);
});

test('only one of two concurrent finishes signs in', async () => {
  const { setUp, nearlyDone, count, told } = open();
  const { opener, recovery } = await nearlyDone();
  const ends = await Promise.allSettled([1, 2].map(() => setUp.finish(opener, recovery, visitor)));
  expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect([await count('login_session'), told()]).toEqual([1, [['set_up', 'anna']]]);
});

test('a reset ends every session and deletes everything of the earlier login', async () => {
  const { newLink, finish, sessions, devices, throttle, db, count, told } = open();
  const { entry: former } = await finish();
  await throttle.fail('stranger');
  const insert = 'INSERT INTO login_passkey (id, name, host, public_key, counter, transports, created_at)';
  await db.run(`${insert} VALUES ('k', '', 'a.example', '', 0, '[]', 0)`);
  const { entry } = await finish(newLink(true));
  expect([await sessions.find(former.cookie, null), await devices.find([former.deviceCookie])]).toEqual([null, null]);
  expect(await sessions.find(entry.cookie, entry.header)).toMatchObject({ device: 'a browser', method: 'password' });
  expect(await devices.find([entry.deviceCookie])).not.toBeNull();
  const tables = ['login_account', 'login_session', 'login_recovery_code', 'login_passkey', 'login_throttle', 'login_setup'];
  expect(await Promise.all(tables.map(count))).toEqual([1, 1, 10, 0, 0, 0]);
  expect(told()).toEqual([
    ['set_up', 'anna'],
    ['reset', 'anna'],
  ]);
});

test('a link sets up one login only, even when its file could not be removed', async () => {
  const { folder, setUp, newLink, nearlyDone, finish, count } = open();
  await finish();
  const { opener, recovery } = await nearlyDone(newLink(true));
  const file = path.join(folder, 'login-setup.json');
  const link = readFileSync(file, 'utf8');
  await setUp.finish(opener, recovery, visitor);
  for (const left of [null, link]) {
    if (left !== null) writeFileSync(file, left);
    await expect(setUp.state(opener)).rejects.toMatchObject({ code: 'unauthorized' });
    await expect(setUp.account(opener, 'eve', password)).rejects.toMatchObject({ code: 'unauthorized' });
  }
  expect(await count('login_setup')).toBe(0);
});

test('every step requires the link, which expires after 15 minutes', async () => {
  const { clock, setUp, nearlyDone, count } = open();
  const { opener, recovery } = await nearlyDone();
  clock.advance(15 * 60_000 - 1);
  expect((await setUp.state(opener)).step).toBe('recovery');
  clock.advance(1);
  const over = { code: 'unauthorized' };
  await expect(setUp.state(opener)).rejects.toMatchObject(over);
  await expect(setUp.recoveryCodes(opener)).rejects.toMatchObject(over);
  await expect(setUp.finish(opener, recovery, visitor)).rejects.toMatchObject(over);
  expect(await count('login_account')).toBe(0);
});

test('a set-up that has begun becomes invalid when the key of the login was replaced', async () => {
  const { deps, newLink, begin } = open();
  const { opener, code } = await begin(newLink());
  const other = createSetUp({ ...deps, seal: createSeal(Buffer.alloc(32, 2)) });
  await expect(other.state(opener)).rejects.toMatchObject({ code: 'unauthorized' });
  await expect(other.totp(opener, code())).rejects.toMatchObject({ code: 'unauthorized' });
});
