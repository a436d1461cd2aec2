import { afterEach, beforeEach, expect, test } from 'vitest';
import { readInstallationKey } from '@svc/service-kit/installation-key.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { createSoftwareAuthenticator } from '@svc/testing/software-authenticator.ts';
import { createAccounts } from '../src/auth/accounts.ts';
import { createSeal } from '../src/auth/seal.ts';
import { loginPage, type Login, origin, password } from './login-page.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
let clock: FakeClock;
beforeEach(async () => {
  clock = createFakeClock();
  core = await openTestCore({ clock });
});
afterEach(() => core.close());
const { ask, begin, call, codeOf, loginOf, setUp, signIn, verify, newLink } = loginPage(
  () => core,
  () => clock,
);
type Begun = { id: string; secret: string; uri: string };

const makePasskey = async (url: string, login: Partial<Login>) => {
  const { body } = await call(`${url}/options`, {}, login);
  const key = createSoftwareAuthenticator();
  const response = key.create(body['options'] as Parameters<typeof key.create>[0], origin);
  expect(await call(url, { name: 'Laptop', response }, login)).toMatchObject({ status: 200 });
  return key.id;
};
/** A login whose only second factor is a passkey. */
async function setUpByPasskey() {
  const { link } = await begin(newLink());
  const id = await makePasskey('setup/passkey', link);
  const [code] = (await call('setup/recovery-codes', {}, link)).body.recovery_codes ?? [];
  return { id, login: loginOf(await call('setup/finish', { code }, link)) };
}
const isSet = async (login: Login) => (await call('totp', null, login)).body['is_set'];
const newKey = async (login: Login) => (await call('totp/key', {}, login)).body as unknown as Begun;
const confirm = ({ id, secret }: Begun, login: Login, code = codeOf(secret)) => call('totp', { id, code }, login);
const remove = (login: Login) => ask('DELETE', 'totp', null, login);
const wrongPassword = (login: Login) => call('password', { password: 'a wrong one', new_password: 'x' }, login);
const told = () =>
  core.telemetry.events.filter(({ kind }) => kind === 'login').map(({ identity, payload }) => [payload?.['what'], identity]);

test('an app added to an account with a passkey takes effect with its first code, which cannot be reused', async () => {
  const { login } = await setUpByPasskey();
  const begun = await newKey(login);
  expect(begun.uri).toMatch(new RegExp(`^otpauth://totp/.*anna.*secret=${begun.secret}`));
  expect(await isSet(login)).toBe(false);
  expect((await signIn(codeOf(begun.secret))).status).toBe(401);
  clock.advance(60_000);
  expect(await confirm(begun, login)).toMatchObject({ status: 200 });
  expect(await isSet(login)).toBe(true);
  expect((await signIn(codeOf(begun.secret))).status).toBe(401);
  clock.advance(30_000);
  expect((await signIn(codeOf(begun.secret))).status).toBe(200);
  expect(told()).toContainEqual(['app_added', 'anna']);
});

test('a new app replaces the old one and signs nobody out', async () => {
  const { secret, login } = await setUp();
  clock.advance(60_000);
  const other = loginOf(await signIn(codeOf(secret)));
  const begun = await newKey(login);
  clock.advance(60_000);
  expect(await confirm(begun, login)).toMatchObject({ status: 200 });
  expect([await verify(login, '?strict=true'), await verify(other, '?strict=true')]).toEqual([200, 200]);
  clock.advance(60_000);
  expect((await signIn(codeOf(secret))).status).toBe(401);
  clock.advance(60_000);
  expect((await signIn(codeOf(begun.secret))).status).toBe(200);
  expect(told()).toContainEqual(['app_replaced', 'anna']);
});

test('a code of the replaced app fails even if its check began before the replacement', async () => {
  const { secret, login } = await setUp();
  const { loginDb, paths } = core.context;
  const accounts = createAccounts(loginDb, createSeal(readInstallationKey(paths.loginKey, '')), clock);
  const before = await accounts.find();
  if (before === undefined) throw new Error('there is no account');
  const begun = await newKey(login);
  clock.advance(60_000);
  expect((await confirm(begun, login, codeOf(begun.secret, -30_000))).status).toBe(200);
  expect(await accounts.takeCode(loginDb, before, codeOf(secret))).toBe(false);
});

test('an app can be removed while a passkey is left, but the last second factor cannot', async () => {
  const { secret, login } = await setUp();
  const refused = { status: 409, body: { message: expect.stringContaining('First add a passkey') as string } };
  expect(await remove(login)).toMatchObject(refused);
  const passkey = await makePasskey('passkeys', login);
  expect(await remove(login)).toMatchObject({ status: 200 });
  expect(await remove(login)).toMatchObject({ status: 404 });
  clock.advance(60_000);
  expect([await isSet(login), (await signIn(codeOf(secret))).status]).toEqual([false, 401]);
  expect(await ask('DELETE', `passkeys/${passkey}`, null, login)).toMatchObject(refused);
  expect((await call('passkeys', null, login)).body['passkeys']).toMatchObject([{ id: passkey }]);
  expect(told().slice(-2)).toEqual([
    ['app_removed', 'anna'],
    ['refused', null],
  ]);
  expect((await confirm(await newKey(login), login)).status).toBe(200);
  expect(await ask('DELETE', `passkeys/${passkey}`, null, login)).toMatchObject({ status: 200 });
});

test('a wrong code changes nothing and delays the next attempt; ten wrong codes end the session', async () => {
  const { login } = await setUpByPasskey();
  const begun = await newKey(login);
  expect(await confirm(begun, login, '000000')).toMatchObject({ status: 400 });
  expect(await confirm(begun, login)).toMatchObject({ status: 429, body: { retry_after_s: 1 } });
  expect(await isSet(login)).toBe(false);
  for (let guess = 1; guess < 10; guess++) {
    clock.advance(30_000);
    expect(await confirm(begun, login, '000000')).toMatchObject({ status: 400 });
  }
  expect(await verify(login)).toBe(401);
});

test('a right code for a new key does not reset the delay after wrong passwords', async () => {
  const { login } = await setUpByPasskey();
  expect((await wrongPassword(login)).status).toBe(401);
  clock.advance(1000);
  expect((await confirm(await newKey(login), login)).status).toBe(200);
  expect((await wrongPassword(login)).status).toBe(401);
  expect((await wrongPassword(login)).body['retry_after_s']).toBe(2);
});

test('a new key waits ten minutes for its code, survives a step-up, and replaces an earlier one', async () => {
  const { codes, login } = await setUp();
  const earlier = await newKey(login);
  const begun = await newKey(login);
  expect(await confirm(earlier, login)).toMatchObject({ status: 409 });
  const renewed = loginOf(await call('step-up', { code: codes[0] }, login));
  clock.advance(10 * 60_000 - 1);
  expect(await confirm(begun, renewed)).toMatchObject({ status: 200 });
  expect(await confirm(begun, renewed)).toMatchObject({ status: 409 });

  const next = await newKey(renewed);
  const later = loginOf(await call('step-up', { code: codes[1] }, renewed));
  clock.advance(10 * 60_000);
  const over = { status: 409, body: { message: expect.stringContaining('Start again') as string } };
  expect(await confirm(next, later)).toMatchObject(over);

  const lost = await newKey(later);
  core = await openTestCore({ clock, dataDir: core.crash() });
  expect(await confirm(lost, later)).toMatchObject(over);
});

test('changing the app requires both tokens, the same origin and a second factor of the last ten minutes', async () => {
  const { login } = await setUp();
  const begun = await newKey(login);
  const acts = [
    (over: object) => call('totp/key', {}, { ...login, ...over }),
    (over: object) => confirm(begun, { ...login, ...over }),
    (over: object) => remove({ ...login, ...over }),
  ];
  const cookieAlone = { 'x-session-token': '' };
  expect((await call('totp', null, { cookie: login.cookie })).status).toBe(401);
  const otherPort = { origin: 'http://localhost:9999', 'sec-fetch-site': 'same-site' };
  for (const act of acts) {
    expect(await act(cookieAlone)).toMatchObject({ status: 401 });
    expect(await act(otherPort)).toMatchObject({ status: 403 });
  }
  clock.advance(10 * 60_000 + 1);
  for (const act of acts) expect(await act({})).toMatchObject({ status: 403, body: { step_up: true } });
  expect(await isSet(login)).toBe(true);
});

test('the key of an app is neither stored in the clear nor reported or cached', async () => {
  const { login } = await setUpByPasskey();
  const answer = await call('totp/key', {}, login);
  expect(answer.headers['cache-control']).toBe('no-store');
  const begun = answer.body as unknown as Begun;
  expect((await confirm(begun, login)).status).toBe(200);
  const kept = JSON.stringify([await core.context.loginDb.all('SELECT * FROM login_account'), core.telemetry.events]);
  for (const hidden of [begun.secret, begun.id, password]) expect(kept).not.toContain(hidden);
});
