import { Secret, TOTP } from 'otpauth';
import { beforeAll, expect, test, vi } from 'vitest';
import type { LoginSession } from '@svc/contract/auth.ts';
import { openLoginParts } from '../../test/open-login-parts.ts';
import { checkNewPassword, hashPassword, impossiblePassword, isPassword } from './password.ts';
import { newTotpSecret } from './second-factor.ts';
import { createSignIn, WrongGuess } from './sign-in.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';

const password = 'correct horse battery staple';
const secret = newTotpSecret();
let stored = '';
beforeAll(async () => void (stored = await hashPassword(password)));
const visitor = { device: 'a browser', deviceCookies: [] as string[], setupCookies: [], origin: new URL('https://a.example') };

async function open() {
  const parts = openLoginParts();
  await parts.addAccount(secret, stored);
  const events = { login: vi.fn() };
  const signIn = createSignIn({ ...parts, events });
  const code = () => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: parts.clock.now() });
  const enter = (over: object = {}, cookies: string[] = []) =>
    signIn.signIn({ name: 'anna', password, code: code(), ...over }, { ...visitor, deviceCookies: cookies });
  const sessionOf = async (cookie: string) => (await parts.sessions.find(cookie, null)) as LoginSession;
  const told = () => events.login.mock.calls.map(([what]) => what as string);
  return { ...parts, events, signIn, code, enter, sessionOf, told };
}

test('signing in requires name, password and code, and each wrong one gives the same message', async () => {
  const { clock, enter, sessions, told } = await open();
  const words = new Set<string>();
  for (const over of [{ name: 'Anna' }, { password: `${password} ` }, { code: '000000x' }, { code: '' }]) {
    await enter(over).catch((error: Error) => words.add(error.message));
    clock.advance(30_000);
  }
  expect([words.size, await sessions.list()]).toEqual([1, []]);
  const { cookie, header, deviceCookie } = await enter();
  expect(await sessions.find(cookie, header)).toMatchObject({ device: 'a browser', method: 'password' });
  expect([deviceCookie.length, told()]).toEqual([43, ['refused', 'refused', 'refused', 'refused', 'signed_in']]);
});

test('without an account every sign-in is rejected, and still counts as a wrong guess', async () => {
  const { db, enter, throttle } = await open();
  await db.run('DELETE FROM login_account');
  await expect(enter()).rejects.toMatchObject({ code: 'unauthorized' });
  expect(await throttle.fail('stranger')).toBe(2);
});

test('a successful sign-in resets the wrong guesses of its own source only', async () => {
  const { clock, enter, throttle } = await open();
  const { deviceCookie } = await enter();
  clock.advance(30_000);
  await throttle.fail('stranger');
  await enter({ code: 'wrong' }, [deviceCookie]).catch(() => undefined);
  await expect(enter({}, [deviceCookie])).rejects.toMatchObject({ code: 'busy' });
  clock.advance(30_000);
  await enter({}, [deviceCookie]);
  expect(await throttle.fail('stranger')).toBe(2);
  await enter({ code: 'wrong' }, [deviceCookie]).catch(() => undefined);
  await expect(enter({}, [deviceCookie])).rejects.toMatchObject({ details: { retry_after_s: 1 } });
});

test('wrong guesses of one browser, recovery code or session do not delay any other', async () => {
  const { clock, accounts, db, enter, sessionOf, signIn, code } = await open();
  const [spent, good] = await accounts.renewRecoveryCodes(db);
  const [one, other] = [await enter(), await enter({ code: spent })];
  const [wrong, isBusy] = [{ code: 'wrong' }, { code: 'busy' }];
  await expect(enter(wrong, [one.deviceCookie])).rejects.toMatchObject({ code: 'unauthorized' });
  await expect(enter(wrong, [one.deviceCookie])).rejects.toMatchObject(isBusy);
  await expect(enter(wrong, [other.deviceCookie])).rejects.toMatchObject({ code: 'unauthorized' });
  const [third, fourth] = (await accounts.renewRecoveryCodes(db)) as [string, string];
  await expect(enter({ code: third, name: 'eve' })).rejects.toMatchObject({ code: 'unauthorized' });
  await expect(enter({ code: third })).rejects.toMatchObject(isBusy);
  await expect(enter({ code: good })).rejects.toMatchObject({ code: 'unauthorized' }); // from the earlier list
  await enter({ code: fourth });
  clock.advance(60_000);
  await expect(signIn.stepUp(await sessionOf(one.cookie), 'wrong')).rejects.toMatchObject({ code: 'unauthorized' });
  await expect(signIn.stepUp(await sessionOf(one.cookie), code())).rejects.toMatchObject(isBusy);
  await signIn.stepUp(await sessionOf(other.cookie), code());
});

test('a recovery code is not delayed by guesses of strangers, only by its own', async () => {
  const { accounts, db, enter, throttle } = await open();
  const [code] = await accounts.renewRecoveryCodes(db);
  await throttle.fail('stranger');
  await expect(enter()).rejects.toMatchObject({ code: 'busy' });
  await enter({ code, password: 'wrong' }).catch((error: { code: string }) => expect(error.code).toBe('unauthorized'));
  await expect(enter({ code })).rejects.toMatchObject({ code: 'busy' });
});

test('a new second factor renews the tokens and invalidates the old ones', async () => {
  const { clock, enter, sessions, sessionOf, signIn, code, told } = await open();
  const { cookie } = await enter();
  clock.advance(60_000);
  const session = await sessionOf(cookie);
  const renewed = await signIn.stepUp(session, code());
  expect(await sessions.find(cookie, null)).toBeNull();
  expect(await sessions.find(renewed.cookie, renewed.header)).toMatchObject({ proven_at: clock.now(), device: 'a browser' });
  clock.advance(60_000);
  await expect(signIn.stepUp(session, code())).rejects.toMatchObject({ code: 'unauthorized' }); // it has ended
  expect([(await sessions.list()).length, told()]).toEqual([1, ['signed_in', 'stepped_up']]);
});

test('ten consecutive wrong guesses end their session', async () => {
  const { clock, enter, sessions, sessionOf, signIn, told } = await open();
  const { cookie } = await enter();
  const session = await sessionOf(cookie);
  for (let times = 1; times <= 10; times++) {
    expect(await sessions.find(cookie, null)).not.toBeNull();
    await expect(signIn.stepUp(session, 'wrong')).rejects.toMatchObject({ code: 'unauthorized' });
    clock.advance(30_000);
  }
  expect([await sessions.find(cookie, null), told().at(-1)]).toEqual([null, 'session_ended']);
});

test('a guess that fails for another reason is not counted as wrong', async () => {
  const { enter, sessionOf, signIn } = await open();
  const session = await sessionOf((await enter()).cookie);
  const fault = new Error('the disk');
  await expect(signIn.guess(session, () => Promise.reject(fault))).rejects.toBe(fault);
  const refusal = badRequest('wrong');
  await expect(signIn.guess(session, () => Promise.reject(new WrongGuess(refusal)))).rejects.toBe(refusal);
  await expect(signIn.guess(session, async () => 'in')).rejects.toMatchObject({ code: 'busy' });
});

test('a new password requires the present one and ends every other session', async () => {
  const { clock, enter, sessions, sessionOf, signIn, accounts, told } = await open();
  const first = await enter();
  clock.advance(60_000);
  const session = await sessionOf((await enter()).cookie);
  const next = 'seven unlikely green umbrellas';
  await expect(signIn.changePassword(session, 'wrong', next)).rejects.toMatchObject({ code: 'unauthorized' });
  clock.advance(1_000);
  await expect(signIn.changePassword(session, password, 'anna12345678')).rejects.toMatchObject({ code: 'bad_request' });
  expect(await sessions.find(first.cookie, null)).not.toBeNull();
  await signIn.changePassword(session, password, next);
  expect([(await sessions.list()).map(({ id }) => id), told().at(-1)]).toEqual([[session.id], 'password_changed']);
  const { password: kept } = (await accounts.find())!;
  expect([await isPassword(next, kept), await isPassword(password, kept)]).toEqual([true, false]);
});

test('a session proves nothing when the account is gone', async () => {
  const { db, enter, sessionOf, signIn, code } = await open();
  const session = await sessionOf((await enter()).cookie);
  await db.run('DELETE FROM login_account');
  await expect(signIn.stepUp(session, code())).rejects.toMatchObject({ code: 'unauthorized' });
  await expect(signIn.changePassword(session, password, password)).rejects.toMatchObject({ code: 'unauthorized' });
});

test('passwords are hashed with argon2id as OWASP recommends, salted, and compared after normalization', async () => {
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(await hashPassword(password)).not.toBe(stored);
  expect([await isPassword(password, stored), await isPassword('', stored), await isPassword('', impossiblePassword)]).toEqual([
    true,
    false,
    false,
  ]);
  const composed = await hashPassword('Käsekuchen im Mai');
  expect(await isPassword('Käsekuchen im Mai'.normalize('NFD'), composed)).toBe(true);
  const cut = stored.replace(/(?<=\$)([\w+/]{40})[\w+/]{3}$/, '$1');
  expect(await isPassword(password, cut)).toBe(false);
  for (const damaged of ['', `x${stored}`, `${stored}=`, stored.replace('argon2id', 'argon2i')])
    await expect(isPassword(password, damaged)).rejects.toThrow('damaged');
});

test.each([
  ['zwölf mal 11', 'anna', null],
  ['kq8!vMw2pZ#', 'anna', 'too short'],
  ['xx ANNA kq8!vMw2', 'anna', 'contains your name'],
  ['passwordpassword', 'anna', 'common'],
  ['annabella smith', 'Annabella Smith', 'contains your name'],
  ['bella annabella', 'anna bella', 'common'],
])('the password "%s" for the name %s: %s', async (candidate, name, fault) => {
  const checked = checkNewPassword(candidate, name);
  await (fault === null ? checked : expect(checked).rejects.toThrow(fault));
});
