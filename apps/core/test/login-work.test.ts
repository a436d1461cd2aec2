import type * as Crypto from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { loginPage, password } from './login-page.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

/** How each key was derived, in the order of the derivations. */
const derived = vi.hoisted((): object[] => []);
vi.mock('node:crypto', async (load) => {
  const crypto = await load<typeof Crypto>();
  const argon2: typeof Crypto.argon2 = (algorithm, parameters, done) => {
    const { message, nonce, ...cost } = parameters;
    derived.push({ algorithm, ...cost, nonce: Buffer.from(nonce as Buffer).length, message: String(message) });
    return crypto.argon2(algorithm, parameters, done);
  };
  return { ...crypto, argon2 };
});

let core: TestCore;
let clock: FakeClock;
beforeEach(async () => {
  clock = createFakeClock();
  core = await openTestCore({ clock });
});
afterEach(() => core.close());
const { setUp, signIn } = loginPage(
  () => core,
  () => clock,
);

/** What was done for a guess, and what was said to it. */
async function guess(over: object) {
  clock.advance(60_000);
  derived.length = 0;
  const { status, body } = await signIn('000000', over);
  const { request_id: _id, ...said } = body;
  return { work: [...derived], status, said };
}

test('a name that is known and one that is not take the same work, and are answered the same', async () => {
  const wrong = { password: 'a wrong password' };
  const beforeSetUp = await guess(wrong);
  await setUp();
  const known = await guess(wrong);
  expect(known.work).toEqual([
    { algorithm: 'argon2id', memory: 19 * 1024, passes: 2, parallelism: 1, tagLength: 32, nonce: 16, message: wrong.password },
  ]);
  expect(known.status).toBe(401);
  expect(beforeSetUp).toEqual(known);
  for (const name of ['nobody', 'x'.repeat(64), 'ANNA']) expect([name, await guess({ ...wrong, name })]).toEqual([name, known]);
});

test('a right password takes no more work than a wrong one, whatever is wrong beside it', async () => {
  await setUp();
  const { work, ...answer } = await guess({ password: 'a wrong password' });
  for (const over of [{ password }, { password, name: 'nobody' }]) {
    const right = await guess(over);
    expect(right).toMatchObject(answer);
    expect(right.work).toEqual([{ ...work[0], message: password }]);
  }
});
