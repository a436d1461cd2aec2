import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { loginPage, page, password } from './login-page.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
let clock: FakeClock;
beforeEach(async () => {
  clock = createFakeClock();
  core = await openTestCore({ clock, env: { SVC_ALLOWED_HOSTS: 'home.example' } });
});
afterEach(() => core.close());

const { call, loginOf, codeOf, newLink, begin, setUp, signIn, verify } = loginPage(
  () => core,
  () => clock,
);

test('a finished set-up invalidates its link, and a new set-up needs a reset link', async () => {
  const link = newLink();
  expect((await call('setup', null, link)).body).toMatchObject({ step: 'account' });
  const { link: used } = await setUp(link);
  expect(await call('setup', null, used)).toMatchObject({ status: 401 });
  expect(await call('setup', null, newLink())).toMatchObject({ status: 401 });
  expect(await call('setup', null, newLink(true))).toMatchObject({ status: 200, body: { step: 'account' } });
});

test('a link expires after 15 minutes, or when another is made', async () => {
  const first = newLink();
  const second = newLink();
  expect(await call('setup', null, first)).toMatchObject({ status: 401 });
  clock.advance(15 * 60_000 - 1);
  expect(await call('setup', null, second)).toMatchObject({ status: 200 });
  clock.advance(1);
  expect(await call('setup', null, second)).toMatchObject({ status: 401 });
});

test('a set-up is finished only with one of its recovery codes', async () => {
  const { body, link } = await begin(newLink());
  expect(await call('setup/finish', { code: 'AAAA-AAAA-AAAA' }, link)).toMatchObject({ status: 409 });
  await call('setup/totp', { code: codeOf(String(body.secret)) }, link);
  await call('setup/recovery-codes', {}, link);
  expect(await call('setup/finish', { code: 'AAAA-AAAA-AAAA' }, link)).toMatchObject({ status: 400, cookie: '' });
});

test.each([
  'short',
  'aaaaaaaaaaaaaaaa',
  'my name is Anna ok',
  'password1234',
  'PasswordPassword',
  'qwertyuiop123',
  '123456789012',
])('rejects the password %s', async (weak) => {
  expect(await call('setup/account', { name: 'anna', password: weak }, newLink())).toMatchObject({ status: 400 });
});

test('the cookie alone passes the proxy check, and the strict check requires cookie and token', async () => {
  const { login } = await setUp();
  const { cookie } = login;
  const answer = await call('verify', null, { cookie });
  expect(answer).toMatchObject({ status: 200, headers: { 'remote-user': 'anna', 'remote-groups': 'owner' } });
  expect(await verify({ cookie }, '?strict=true')).toBe(401);
  expect(await verify(login, '?strict=true')).toBe(200);
  expect(await verify({ 'x-session-token': login['x-session-token'] })).toBe(401);
  expect(await verify({ cookie, 'x-session-token': 'wrong' }, '?strict=true')).toBe(401);
  expect(await call('sessions', null, { cookie })).toMatchObject({ status: 401 });
});

test.each([
  [-60_000, 401],
  [-30_000, 200],
  [0, 200],
  [30_000, 200],
  [60_000, 401],
])('a code from %d ms away is answered with %d', async (offset, status) => {
  const { secret } = await setUp();
  clock.advance(5 * 60_000);
  expect((await signIn(codeOf(secret, offset))).status).toBe(status);
});

test('a code and a recovery code can each be used once, even in concurrent requests', async () => {
  const { secret, codes } = await setUp();
  expect((await signIn(codeOf(secret))).status).toBe(401); // used by the set-up
  clock.advance(60_000);
  const many = await Promise.all(Array.from({ length: 6 }, () => signIn(codeOf(secret))));
  expect(many.filter(({ status }) => status === 200)).toHaveLength(1);
  clock.advance(60_000);
  expect((await signIn(String(codes[0]))).status).toBe(200);
  expect((await signIn(String(codes[0]))).status).toBe(401);
});

test('wrong guesses are delayed by 1, 2, 4 … 30 s, concurrent ones count once, and a right one is accepted', async () => {
  const { secret } = await setUp();
  const waits: unknown[] = [];
  for (let guess = 0; guess < 7; guess++) {
    const all = await Promise.all(Array.from({ length: 4 }, () => signIn('000000', { password: 'a wrong password' })));
    expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([401, 429, 429, 429]);
    const wait = Number(all.find(({ status }) => status === 429)?.body['retry_after_s']);
    waits.push(wait);
    clock.advance(wait * 1000);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30]);
  expect((await signIn(codeOf(secret))).status).toBe(200);
});

test('a refusal does not reveal which part was wrong or whether there is an account', async () => {
  const message = async (code: string, over: object) => (await signIn(code, over)).body['message'];
  const without = await message('000000', {});
  const { secret } = await setUp();
  const said = new Set([without]);
  for (const over of [{ name: 'bob' }, { password: 'a wrong password' }, { code: '000000' }]) {
    clock.advance(60_000);
    said.add(await message(codeOf(secret), over));
  }
  expect(said.size).toBe(1);
});

test('sign-in and step-up issue new tokens, and a planted cookie is not adopted', async () => {
  const { secret, login } = await setUp();
  clock.advance(60_000);
  const planted = { cookie: 'svc-login=planted' };
  const next = loginOf(await call('login', { name: 'anna', password, code: codeOf(secret) }, planted));
  expect([await verify(planted), await verify(next)]).toEqual([401, 200]);
  clock.advance(60_000);
  const stepped = loginOf(await call('step-up', { code: codeOf(secret) }, next));
  expect([await verify(next), await verify(stepped), await verify(login)]).toEqual([401, 200, 200]);
});

test('a session ends by sign-out, by removal from the list, by a reset and by expiry', async () => {
  const { login, secret } = await setUp();
  clock.advance(60_000);
  const other = loginOf(await signIn(codeOf(secret)));
  const { body } = await call('sessions', null, other);
  const ids = (body['sessions'] as { id: string }[]).map(({ id }) => id);
  const first = ids.find((id) => id !== body['current']);
  await core.app.inject({ method: 'DELETE', url: `/v2/auth/sessions/${first}`, headers: { ...page, ...other } });
  expect([await verify(login), await verify(other)]).toEqual([401, 200]);
  expect((await call('logout', {}, other)).cookie).toContain('Max-Age=0');
  expect(await verify(other)).toBe(401);
  const { login: renewed } = await setUp(newLink(true));
  clock.advance(12 * 60 * 60_000 - 1);
  expect(await verify(renewed)).toBe(200);
  clock.advance(1);
  expect(await verify(renewed)).toBe(401);
});

test('sessions and used codes survive a crash', async () => {
  const { login, secret } = await setUp();
  core = await openTestCore({ clock, dataDir: core.crash() });
  expect(await verify(login)).toBe(200);
  expect((await signIn(codeOf(secret))).status).toBe(401);
});

test.each([
  ['of another port', { origin: 'http://localhost:9999' }],
  ['of another site', { 'sec-fetch-site': 'cross-site' }],
  ['of another server of this host', { 'sec-fetch-site': 'same-site' }],
  ['without an origin', { origin: '' }],
  ['over plain http on another machine', { origin: 'http://home.example', host: 'home.example' }],
])('a page %s cannot sign in', async (_name, headers) => {
  const { secret } = await setUp();
  clock.advance(60_000);
  const answer = await call('login', { name: 'anna', password, code: codeOf(secret) }, headers);
  expect(answer).toMatchObject({ status: 403, cookie: '' });
});

test('over https the cookie has the __Host- prefix and the Secure flag', async () => {
  const { secret } = await setUp();
  clock.advance(60_000);
  const credentials = { name: 'anna', password, code: codeOf(secret) };
  const { cookie } = await call('login', credentials, { origin: 'https://localhost:3020' });
  expect(cookie).toMatch(/^__Host-svc-login=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/);
});

test("the database contains neither the password nor tokens, recovery codes or the app's key", async () => {
  const { login, codes, secret: totpSecret, device } = await setUp();
  const stored = JSON.stringify(
    await Promise.all(
      ['login_account', 'login_session', 'login_recovery_code', 'login_device', 'login_setup'].map((table) =>
        core.context.loginDb.all(`SELECT * FROM ${table}`),
      ),
    ),
  );
  for (const secret of [
    password,
    login.cookie.split('=')[1],
    login['x-session-token'],
    codes[0],
    totpSecret,
    device.split('=')[1],
  ])
    expect(stored).not.toContain(secret);
});
