import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Passkey } from '@svc/contract/auth.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { createSoftwareAuthenticator } from '@svc/testing/software-authenticator.ts';
import { loginPage, origin, type Login } from './login-page.ts';
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
type Key = ReturnType<typeof createSoftwareAuthenticator>;
type Options = { challenge: string; rpId?: string; rp?: { id: string } };

const optionsOf = async (url: string, login: Partial<Login> = {}) =>
  (await call(`${url}/options`, {}, login)).body['options'] as Options;
const add = async (key: Key, login: Login, name = 'Laptop') =>
  call('passkeys', { name, response: key.create(await optionsOf('passkeys', login), origin) }, login);
const enter = async (key: Key, over: { isVerified?: boolean } = {}, at = origin) =>
  call('login/passkey', { response: key.get(await optionsOf('login/passkey'), at, over) });
const told = () =>
  core.telemetry.events.flatMap(({ kind, payload }) => (kind === 'login' ? [(payload as { what: string }).what] : []));
const list = async (login: Login) => (await call('passkeys', null, login)).body['passkeys'] as Passkey[];

test('a passkey can be added, listed, renamed, used to sign in, and removed', async () => {
  const { login } = await setUp();
  const key = createSoftwareAuthenticator();
  expect(await add(key, login)).toMatchObject({ status: 200, body: { passkey: { name: 'Laptop', host: 'localhost' } } });
  expect(await ask('PATCH', `passkeys/${key.id}`, { name: 'Phone' }, login)).toMatchObject({ status: 200 });
  const entered = await enter(key);
  expect([entered.status, await verify(loginOf(entered), '?strict=true')]).toEqual([200, 200]);
  expect(await list(login)).toMatchObject([{ id: key.id, name: 'Phone', used_at: clock.now() }]);
  expect(await ask('DELETE', `passkeys/${key.id}`, null, login)).toMatchObject({ status: 200 });
  expect(await enter(key)).toMatchObject({ status: 401, cookies: [] });
});

test('adding and removing a passkey require a second factor of the last ten minutes, which a passkey renews', async () => {
  const { login } = await setUp();
  const key = createSoftwareAuthenticator();
  await add(key, login);
  clock.advance(10 * 60_000 + 1);
  expect(await call('passkeys/options', {}, login)).toMatchObject({ status: 403, body: { step_up: true } });
  expect(await ask('DELETE', `passkeys/${key.id}`, null, login)).toMatchObject({ status: 403, body: { step_up: true } });
  const response = key.get(await optionsOf('step-up/passkey', login), origin);
  const renewed = await call('step-up/passkey', { response }, login);
  expect([renewed.status, await verify(login)]).toEqual([200, 401]);
  expect(await call('passkeys/options', {}, loginOf(renewed))).toMatchObject({ status: 200 });
});

test('at most twenty passkeys can be added, even when more were begun at once', async () => {
  const { login } = await setUp();
  const begun: Options[] = [];
  for (let count = 0; count < 21; count++) begun.push(await optionsOf('passkeys', login));
  const statuses: number[] = [];
  for (const options of begun) {
    const response = createSoftwareAuthenticator().create(options, origin);
    statuses.push((await call('passkeys', { name: 'Laptop', response }, login)).status);
  }
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 409]);
  expect(await call('passkeys/options', {}, login)).toMatchObject({ status: 409 });
});

test('passkeys cannot be added, listed or removed without a login', async () => {
  const { login } = await setUp();
  const key = createSoftwareAuthenticator();
  await add(key, login);
  const cookieAlone = { cookie: login.cookie };
  for (const headers of [{}, cookieAlone]) {
    expect(await call('passkeys/options', {}, headers)).toMatchObject({ status: 401 });
    expect(await call('passkeys', null, headers)).toMatchObject({ status: 401 });
    expect(await ask('DELETE', `passkeys/${key.id}`, null, headers)).toMatchObject({ status: 401 });
  }
});

test('a response is valid once, for its purpose, origin and time, and with user verification', async () => {
  const { login } = await setUp();
  const key = createSoftwareAuthenticator();
  await add(key, login);
  const response = key.get(await optionsOf('login/passkey'), origin);
  expect(await call('login/passkey', { response })).toMatchObject({ status: 200 });
  expect(await call('login/passkey', { response })).toMatchObject({ status: 401 });
  expect(await call('step-up/passkey', { response: key.get(await optionsOf('login/passkey'), origin) }, login)).toMatchObject({
    status: 401,
  });
  expect(await enter(key, { isVerified: false })).toMatchObject({ status: 401 });
  expect(await enter(key, {}, 'http://localhost:9999')).toMatchObject({ status: 401 });
  expect(await enter(createSoftwareAuthenticator())).toMatchObject({ status: 401 });
  const late = key.get(await optionsOf('login/passkey'), origin);
  clock.advance(5 * 60_000);
  expect(await call('login/passkey', { response: late })).toMatchObject({ status: 401 });
  const own = { ...(await optionsOf('login/passkey')), challenge: Buffer.from('made.9999999999999.up').toString('base64url') };
  expect(await call('login/passkey', { response: key.get(own, origin) })).toMatchObject({ status: 401 });
});

test('a response of an authenticator without a counter is valid once, too', async () => {
  const { login } = await setUp();
  const key = createSoftwareAuthenticator({ counts: false });
  await add(key, login);
  const response = key.get(await optionsOf('login/passkey'), origin);
  expect((await call('login/passkey', { response })).status).toBe(200);
  expect((await call('login/passkey', { response })).status).toBe(401);
  expect((await enter(key)).status).toBe(200);
});

test('a registration response cannot be replayed, even after its passkey was removed', async () => {
  const { login } = await setUp();
  const key = createSoftwareAuthenticator();
  const sent = { name: ' Laptop ', response: key.create(await optionsOf('passkeys', login), origin) };
  expect((await call('passkeys', sent, login)).status).toBe(200);
  expect((await call('passkeys', sent, login)).status).toBe(400);
  expect((await add(key, login)).status).toBe(409);
  expect(await list(login)).toMatchObject([{ name: 'Laptop' }]);
  await ask('DELETE', `passkeys/${key.id}`, null, login);
  expect((await call('passkeys', sent, login)).status).toBe(400);
  expect(await list(login)).toEqual([]);
});

test('a passkey without user verification is not added, nor a 21st', async () => {
  const { login } = await setUp();
  const key = createSoftwareAuthenticator();
  const response = key.create(await optionsOf('passkeys', login), origin, { isVerified: false });
  expect((await call('passkeys', { name: 'Laptop', response }, login)).status).toBe(400);
  const insert = 'INSERT INTO login_passkey (id, name, host, public_key, counter, transports, created_at)';
  for (let n = 0; n < 19; n++)
    await core.context.loginDb.run(`${insert} VALUES (?, '', ?, '', 0, '[]', 0)`, `k${n}`, n < 18 ? 'a.example' : 'localhost');
  const { excludeCredentials: known } = (await optionsOf('passkeys', login)) as { excludeCredentials?: { id: string }[] };
  expect(known).toMatchObject([{ id: 'k18' }]); // an authenticator is told only of those for its host
  expect((await add(key, login)).status).toBe(200);
  expect((await call('passkeys/options', {}, login)).status).toBe(409);
});

test('events report additions, removals, sign-ins and refusals', async () => {
  const { login } = await setUp();
  const key = createSoftwareAuthenticator();
  await add(key, login);
  await enter(key);
  for (let times = 0; times < 2; times++) await enter(key, { isVerified: false });
  await call(
    'login/passkey',
    { response: key.get(await optionsOf('login/passkey'), origin) },
    { origin: 'http://127.0.0.1:3020', host: '127.0.0.1:3020' },
  );
  await ask('DELETE', `passkeys/${key.id}`, null, login);
  expect(told()).toEqual(['set_up', 'passkey_added', 'signed_in', 'refused', 'refused', 'passkey_removed']);
});

test('a cloned authenticator is detected by its counter', async () => {
  const { login } = await setUp();
  const key = createSoftwareAuthenticator();
  await add(key, login);
  for (let use = 0; use < 3; use++) expect((await enter(key)).status).toBe(200);
  key.rewind();
  expect((await enter(key)).status).toBe(401);
});

test('the options do not reveal whether there is a login, and an IP address is refused with the reason', async () => {
  const before = await optionsOf('login/passkey');
  const { login } = await setUp();
  await add(createSoftwareAuthenticator(), login);
  const after = await optionsOf('login/passkey');
  expect({ ...after, challenge: '' }).toEqual({ ...before, challenge: '' });
  const numbers = { origin: 'http://127.0.0.1:3020', host: '127.0.0.1:3020' };
  const refused = await call('login/passkey/options', {}, numbers);
  expect(refused.status).toBe(422);
  expect(refused.body['message']).toContain('http://localhost:3020');
});

test('wrong password guesses do not delay a passkey', async () => {
  const { login } = await setUp();
  const key = createSoftwareAuthenticator();
  await add(key, login);
  for (let guess = 0; guess < 5; guess++) await signIn('000000', { password: 'a wrong password' });
  expect((await signIn('000000')).status).toBe(429);
  expect((await enter(key)).status).toBe(200);
});

test('a reset removes all passkeys', async () => {
  const { login } = await setUp();
  const key = createSoftwareAuthenticator();
  await add(key, login);
  await setUp(newLink(true));
  expect((await enter(key)).status).toBe(401);
});

test('a set-up with a passkey instead of an app allows sign-in by passkey or recovery code, but no app code', async () => {
  const key = createSoftwareAuthenticator();
  const { body, link } = await begin(newLink());
  expect(await call('setup/recovery-codes', {}, link)).toMatchObject({ status: 409 });
  const wrongly = key.create(await optionsOf('setup/passkey', link), 'http://localhost:9999');
  expect(await call('setup/passkey', { name: 'Laptop', response: wrongly }, link)).toMatchObject({ status: 400 });
  expect((await call('setup', null, link)).body).toMatchObject({ step: 'totp' });
  const response = key.create(await optionsOf('setup/passkey', link), origin);
  expect(await call('setup/passkey', { name: 'Laptop', response }, { ...link, cookie: '' })).toMatchObject({ status: 401 });
  expect((await call('setup/passkey', { name: 'Laptop', response }, link)).body).toMatchObject({ step: 'recovery' });
  expect((await call('setup', null, link)).body).toMatchObject({ step: 'recovery' });
  const codes = (await call('setup/recovery-codes', {}, link)).body.recovery_codes ?? [];
  const finished = await call('setup/finish', { code: codes[0] }, link);
  expect(finished.status).toBe(200);
  expect(await list(loginOf(finished))).toMatchObject([{ id: key.id, name: 'Laptop', host: 'localhost' }]);
  expect((await enter(key)).status).toBe(200);
  expect((await signIn(codeOf(String(body.secret)))).status).toBe(401);
  clock.advance(60_000);
  expect((await signIn(String(codes[1]))).status).toBe(200);
});

test('a set-up rejects a response to a sign-in challenge, and refuses an IP address', async () => {
  const { link } = await begin(newLink());
  const key = createSoftwareAuthenticator();
  const other = key.create({ ...(await optionsOf('login/passkey')), rp: { id: 'localhost' } }, origin);
  expect(await call('setup/passkey', { name: 'x', response: other }, link)).toMatchObject({ status: 400 });
  const numbers = { origin: 'http://127.0.0.1:3020', host: '127.0.0.1:3020' };
  const refused = await call('setup/passkey/options', {}, { ...link, ...numbers });
  expect([refused.status, refused.body['message']]).toEqual([422, expect.stringContaining('http://localhost:3020')]);
});
