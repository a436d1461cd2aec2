import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { loginPage, password } from './login-page.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
let clock: FakeClock;
beforeEach(async () => {
  clock = createFakeClock();
  core = await openTestCore({ clock });
});
afterEach(() => core.close());
const { ask, call, loginOf, codeOf, setUp, signIn, verify, newLink, begin } = loginPage(
  () => core,
  () => clock,
);
const wrongPassword = { password: 'a wrong password' };
const statuses = async (times: number, over: object, headers?: Record<string, string>) => {
  const found: unknown[] = [];
  for (let guess = 0; guess < times; guess++) {
    const { status, body } = await signIn('000000', over, headers);
    found.push([status, body['message'], body['retry_after_s']]);
  }
  return found;
};

test('failed sign-ins are answered alike with and without an account', async () => {
  const without = await statuses(4, wrongPassword);
  await setUp();
  expect(await statuses(4, wrongPassword)).toEqual(without);
  expect(without.map((answer) => (answer as unknown[])[0])).toEqual([401, 429, 429, 429]);
});

test('guesses by strangers delay neither a known browser nor a recovery code', async () => {
  const { secret, codes, device } = await setUp();
  await statuses(3, wrongPassword);
  clock.advance(60_000);
  await statuses(2, wrongPassword);
  const code = codeOf(secret);
  expect((await signIn(code)).status).toBe(429);
  expect((await signIn(String(codes[0]))).status).toBe(200);
  expect((await signIn(code, {}, { cookie: device })).status).toBe(200);
});

test('a known browser and a recovery code are delayed by their own guesses', async () => {
  const { codes, device } = await setUp();
  expect((await statuses(2, wrongPassword, { cookie: device })).map((answer) => (answer as unknown[])[0])).toEqual([401, 429]);
  const guess = () => signIn(String(codes[0]), wrongPassword);
  expect([(await guess()).status, (await guess()).status]).toEqual([401, 429]);
});

test('the delay after wrong guesses survives a restart', async () => {
  await setUp();
  await statuses(1, wrongPassword);
  core = await openTestCore({ clock, dataDir: core.crash() });
  expect((await signIn('000000')).status).toBe(429);
});

test('a clock set back does not extend the delay', async () => {
  clock.advance(3_600_000);
  await statuses(1, wrongPassword);
  clock = createFakeClock();
  core = await openTestCore({ clock, dataDir: core.crash() });
  expect((await signIn('000000')).status).toBe(401);
});

test('a set-up continues only in the browser that began it', async () => {
  const { link, body } = await begin(newLink());
  const seen = { 'x-setup-token': link['x-setup-token'] };
  for (const other of [seen, { ...seen, cookie: 'svc-setup=planted' }]) {
    expect(await call('setup', null, other)).toMatchObject({ status: 401 });
    expect(await call('setup/account', { name: 'eve', password }, other)).toMatchObject({ status: 401 });
    expect(await call('setup/totp', { code: codeOf(String(body.secret)) }, other)).toMatchObject({ status: 401 });
    expect(await call('setup/recovery-codes', {}, other)).toMatchObject({ status: 401 });
  }
  expect(await call('setup', null, link)).toMatchObject({ status: 200, body: { step: 'totp' } });
});

test('of two browsers that use a link at once, one continues', async () => {
  const link = newLink();
  const begun = await Promise.all([begin(link), begin(link)]);
  expect(begun.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
  const first = begun.find(({ status }) => status === 200);
  expect(await call('setup', null, first?.link)).toMatchObject({ status: 200, body: { step: 'totp' } });
});

test('set-up steps and sign-out are rejected from other origins', async () => {
  const { body, link } = await begin(newLink());
  const neighbour = { ...link, 'sec-fetch-site': 'same-site' };
  const code = codeOf(String(body.secret));
  const steps: [string, object][] = [
    ['setup/account', { name: 'anna', password }],
    ['setup/totp', { code }],
    ['setup/passkey/options', {}],
    ['setup/recovery-codes', {}],
    ['setup/finish', { code }],
    ['logout', {}],
  ];
  for (const [url, sent] of steps)
    expect([url, await call(url, sent, neighbour)]).toMatchObject([url, { status: 403, body: { error: 'bad_origin' } }]);
  expect((await call('setup', null, link)).body).toMatchObject({ step: 'totp' });
});

test('a session without its account is invalid, and an unknown session cannot be ended', async () => {
  const { login } = await setUp();
  expect(await ask('DELETE', 'sessions/another', null, login)).toMatchObject({ status: 404 });
  expect(await verify(login)).toBe(200);
  await core.context.loginDb.run('DELETE FROM login_account');
  expect([await verify(login), await verify(login, '?strict=true')]).toEqual([401, 401]);
});

test('the cookies alone give no access to a server on another port of the host', async () => {
  const { login, device } = await setUp();
  const cookies = { cookie: `${login.cookie}; ${device}` };
  for (const url of ['sessions', 'passkeys']) expect(await call(url, null, cookies)).toMatchObject({ status: 401 });
  for (const url of ['logout', 'recovery-codes', 'passkeys/options', 'step-up/passkey/options'])
    expect(await call(url, {}, cookies)).toMatchObject({ status: 401 });
  expect(await call('step-up', { code: '000000' }, cookies)).toMatchObject({ status: 401 });
  const otherPort = { ...login, origin: 'http://localhost:9999', 'sec-fetch-site': 'same-site' };
  expect(await call('logout', {}, otherPort)).toMatchObject({ status: 403 });
  expect(await verify(login)).toBe(200);
});

test('ten wrong codes for a step-up end the session', async () => {
  const { login } = await setUp();
  for (let guess = 0; guess < 10; guess++) {
    expect((await call('step-up', { code: '000000' }, login)).status).toBe(401);
    clock.advance(30_000);
  }
  expect(await verify(login)).toBe(401);
});

test('a new password requires the old one and a fresh second factor, and ends all other sessions', async () => {
  const { secret, login } = await setUp();
  clock.advance(60_000);
  const other = loginOf(await signIn(codeOf(secret)));
  const next = 'staple battery horse correct';
  const change = (body: object) => call('password', body, login);
  expect(await change({ password: 'a wrong password', new_password: next })).toMatchObject({ status: 401 });
  clock.advance(30_000);
  expect(await change({ password, new_password: 'password1234' })).toMatchObject({ status: 400 });
  expect(await change({ password, new_password: next })).toMatchObject({ status: 200 });
  expect([await verify(login), await verify(other)]).toEqual([200, 401]);
  clock.advance(10 * 60_000);
  expect(await change({ password: next, new_password: password })).toMatchObject({ status: 403, body: { step_up: true } });
  expect((await signIn(codeOf(secret), { password: next })).status).toBe(200);
});

test('new recovery codes replace all earlier ones', async () => {
  const { codes, login } = await setUp();
  const renewed = (await call('recovery-codes', {}, login)).body.recovery_codes ?? [];
  expect(renewed).toHaveLength(10);
  expect((await signIn(String(codes[0]))).status).toBe(401);
  clock.advance(1000);
  expect((await signIn(String(renewed[0]))).status).toBe(200);
});

test('events record sign-ins, sign-outs and refusals without secrets', async () => {
  const { secret, login } = await setUp();
  clock.advance(60_000);
  await signIn('000000', wrongPassword);
  clock.advance(60_000);
  const entered = await signIn(codeOf(secret));
  await call('logout', {}, loginOf(entered));
  await ask('DELETE', `sessions/${String((await call('sessions', null, login)).body['current'])}`, null, login);
  const told = core.telemetry.events.filter(({ kind }) => kind === 'login');
  expect(told.map(({ identity, payload }) => [payload?.['what'], identity])).toEqual([
    ['set_up', 'anna'],
    ['refused', null],
    ['signed_in', 'anna'],
    ['signed_out', 'anna'],
    ['signed_out', 'anna'],
  ]);
  const text = JSON.stringify(told);
  for (const hidden of [password, secret, login.cookie.split('=')[1], login['x-session-token'], entered.body.session_token])
    expect(text).not.toContain(hidden);
});
