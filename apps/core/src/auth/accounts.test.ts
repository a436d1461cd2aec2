import { Secret, TOTP } from 'otpauth';
import { expect, test } from 'vitest';
import { tokenHash } from '@svc/service-kit/setup-link.ts';
import { openLoginParts } from '../../test/open-login-parts.ts';
import { createAccounts, openTotp } from './accounts.ts';
import { createPasskeyChallenges } from './passkey-challenges.ts';
import { bareCode, newRecoveryCodes, newTotpSecret, totpStep, totpUri } from './second-factor.ts';
import { createSeal } from './seal.ts';

const codeOf = (secret: string, timestamp: number) => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });

async function open() {
  const parts = openLoginParts();
  const secret = newTotpSecret();
  await parts.addAccount(secret);
  const take = async (code: string) => parts.accounts.takeCode(parts.db, (await parts.accounts.find())!, code);
  return { ...parts, secret, take };
}

test('a code of the authenticator app is accepted once, and no code of an earlier step after it', async () => {
  const { clock, secret, take } = await open();
  const [before, now, next] = [-30_000, 0, 30_000].map((ms) => codeOf(secret, clock.now() + ms)) as [string, string, string];
  expect([await take(` ${now} `), await take(now), await take(before)]).toEqual([true, false, false]);
  expect([await take(next), await take(next)]).toEqual([true, false]);
});

test('a code is rejected when the authenticator app was replaced after the account was read', async () => {
  const { clock, db, accounts, secret } = await open();
  const account = (await accounts.find())!;
  await db.run("UPDATE login_account SET totp_secret = 'another'");
  expect(await accounts.takeCode(db, account, codeOf(secret, clock.now()))).toBe(false);
});

test('a recovery code is accepted once in any spelling, and never from an earlier list', async () => {
  const { db, accounts, take } = await open();
  const [old = ''] = await accounts.renewRecoveryCodes(db);
  const [code = '', ...rest] = await accounts.renewRecoveryCodes(db);
  expect(rest).toHaveLength(9);
  const typed = ` ${code.toLowerCase().replaceAll('-', ' ')}\t`;
  expect([await accounts.recoveryHash(typed), await accounts.recoveryHash(old), await accounts.recoveryHash('')]).toEqual([
    tokenHash(bareCode(code)),
    null,
    null,
  ]);
  expect([await take(old), await take(''), await take(typed), await take(code)]).toEqual([false, false, true, false]);
  expect(await accounts.recoveryHash(code)).toBeNull();
});

test('an account without an authenticator app accepts recovery codes only', async () => {
  const { db, accounts, clock, secret, take } = await open();
  await db.run("UPDATE login_account SET totp_secret = ''");
  const [code = ''] = await accounts.renewRecoveryCodes(db);
  expect([await take(codeOf(secret, clock.now())), await take(code)]).toEqual([false, true]);
});

test('the last second factor (a readable authenticator app or a passkey) cannot be removed', async () => {
  const { db, accounts } = await open();
  const { clock } = openLoginParts();
  await accounts.requireFactor(db);
  const stranger = createAccounts(db, createSeal(Buffer.alloc(32, 2)), clock);
  expect([await accounts.hasApp(db), await stranger.hasApp(db)]).toEqual([true, false]);
  await expect(stranger.requireFactor(db)).rejects.toMatchObject({ code: 'conflict' });
  await db.run("UPDATE login_account SET totp_secret = ''");
  expect(await accounts.hasApp(db)).toBe(false);
  await expect(accounts.requireFactor(db)).rejects.toMatchObject({ code: 'conflict' });
  await db.run(
    "INSERT INTO login_passkey (id, name, host, public_key, counter, transports, created_at) VALUES ('a', '', '', '', 0, '[]', 0)",
  );
  await accounts.requireFactor(db);
  await db.run('DELETE FROM login_account');
  expect([await accounts.find(), await accounts.hasApp(db)]).toEqual([undefined, false]);
});

test('a code is accepted for its time step and the neighbouring ones, with exactly six digits', () => {
  const secret = newTotpSecret();
  const now = 1_800_000_015_000;
  const step = Math.floor(now / 30_000);
  const found = [-2, -1, 0, 1, 2].map((away) => totpStep(secret, codeOf(secret, now + away * 30_000), now));
  expect(found).toEqual([null, step - 1, step, step + 1, null]);
  for (const code of ['', '12345', `${codeOf(secret, now)}0`, 'abcdef']) expect(totpStep(secret, code, now)).toBeNull();
  expect(Secret.fromBase32(secret).bytes).toHaveLength(20);
  expect(totpUri(secret, 'Anna')).toContain(
    `otpauth://totp/Assistant%20Gateway:Anna?issuer=Assistant%20Gateway&secret=${secret}`,
  );
});

test('ten unique recovery codes consist of twelve characters that are hard to confuse', () => {
  const codes = newRecoveryCodes();
  for (const code of codes) expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/);
  expect(new Set([...codes, ...newRecoveryCodes()]).size).toBe(20);
});

test('sealed text opens only unchanged, with the same key and for the same use', () => {
  const seal = createSeal(Buffer.alloc(32, 1));
  const sealed = seal.close('a secret', 'totp');
  const bytes = Buffer.from(sealed, 'base64url');
  expect([seal.open(sealed, 'totp'), seal.close('a secret', 'totp') === sealed, bytes.includes('secret')]).toEqual([
    'a secret',
    false,
    false,
  ]);
  expect(seal.open(seal.close('', 'totp'), 'totp')).toBe('');
  expect([seal.open(sealed, 'other'), createSeal(Buffer.alloc(32, 2)).open(sealed, 'totp')]).toEqual([null, null]);
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    expect([at, seal.open(changed.toString('base64url'), 'totp')]).toEqual([at, null]);
  }
  for (const cut of [0, 11, 27, 28, bytes.length - 1])
    expect([cut, seal.open(bytes.subarray(0, cut).toString('base64url'), 'totp')]).toEqual([cut, null]);
  expect(openTotp(seal, { totp_secret: '' })).toBeNull();
});

test('a mark is valid only for its text, its use and its key', () => {
  const seal = createSeal(Buffer.alloc(32, 1));
  const mark = seal.mark('text', 'use');
  expect(seal.isMark(mark, 'text', 'use')).toBe(true);
  const forged = [mark.slice(0, -2), `${mark}AAAA`, '', createSeal(Buffer.alloc(32, 2)).mark('text', 'use')];
  for (const each of forged) expect(seal.isMark(each, 'text', 'use')).toBe(false);
  expect([seal.isMark(mark, 'texts', 'use'), seal.isMark(mark, 'text', 'uses')]).toEqual([false, false]);
});

test('a challenge is valid once, for five minutes, for its use and page', async () => {
  const { clock, db, seal } = openLoginParts();
  const challenges = createPasskeyChallenges(seal, clock);
  const came = (use: 'sign-in' | 'step-up:a', host: string) => Buffer.from(challenges.make(use, host)).toString('base64url');
  const challenge = came('sign-in', 'a.example');
  const isGood = (text = challenge, use: 'sign-in' | 'step-up:a' = 'sign-in', host = 'a.example') =>
    challenges.isGood(text, use, host);
  expect([isGood(), isGood(challenge, 'step-up:a'), isGood(challenge, 'sign-in', 'b.example')]).toEqual([true, false, false]);
  const [nonce, end, mark] = Buffer.from(challenge, 'base64url').toString().split('.');
  const forged = [`${nonce}.${Number(end) + 1}.${mark}`, `${nonce}x.${end}.${mark}`, `${nonce}.${end}`, ''];
  for (const text of forged) expect(isGood(Buffer.from(text).toString('base64url'))).toBe(false);
  expect([await challenges.take(db, challenge), await challenges.take(db, challenge)]).toEqual([true, false]);
  expect(await challenges.take(db, came('sign-in', 'a.example'))).toBe(true);
  clock.setBack(1); // it came from a clock that was ahead
  expect(isGood()).toBe(false);
  clock.setBack(-1);
  clock.advance(5 * 60_000 - 1);
  expect([isGood(), await challenges.take(db, challenge)]).toEqual([true, false]);
  clock.advance(1);
  expect(isGood()).toBe(false);
  await challenges.take(db, came('sign-in', 'a.example'));
  expect(await db.all('SELECT hash FROM login_used_challenge')).toHaveLength(1);
});

test('the last 50 browsers that signed in are known, by one of at most four cookies', async () => {
  const { clock, db, devices } = openLoginParts();
  const first = await devices.note(db, []);
  const cookies: string[] = [];
  for (let n = 0; n < 49; n++) {
    clock.advance(1);
    cookies.push(await devices.note(db, []));
  }
  clock.advance(1);
  expect(await devices.note(db, ['planted', first])).toBe(first);
  clock.advance(1);
  await devices.note(db, ['planted']);
  expect([await devices.find([first]), await devices.find([cookies[0]!]), await devices.find(['planted'])]).toEqual([
    tokenHash(first),
    null,
    null,
  ]);
  expect(await devices.find(['a', 'b', 'c', first])).toBe(tokenHash(first));
  expect(await devices.find(['a', 'b', 'c', 'd', first])).toBeNull();
  await devices.forgetAll(db);
  expect(await devices.find([first])).toBeNull();
});
