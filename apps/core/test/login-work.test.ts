import { createHook } from 'node:async_hooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { loginPage, password } from './login-page.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

/** Keys derived from passwords in this process: the work of a login that can be measured from afar. */
let derived = 0;
const derivations = createHook({
  init: (_id, type) => {
    if (type === 'ARGON2REQUEST') derived += 1;
  },
});

let core: TestCore;
let clock: FakeClock;
beforeEach(async () => {
  derivations.enable();
  clock = createFakeClock();
  core = await openTestCore({ clock });
});
afterEach(async () => {
  derivations.disable();
  await core.close();
});
const { setUp, signIn } = loginPage(
  () => core,
  () => clock,
);

/** The work and the answer of one guess. */
async function guess(over: object) {
  clock.advance(60_000);
  derived = 0;
  const { status, body } = await signIn('000000', over);
  const { request_id: _id, ...said } = body;
  return { work: derived, status, said };
}

test('a known and an unknown name cost the same work and get the same answer', async () => {
  const wrong = { password: 'a wrong password' };
  const beforeSetUp = await guess(wrong);
  await setUp();
  const known = await guess(wrong);
  expect(known.work).toBe(1);
  expect(known.status).toBe(401);
  expect(beforeSetUp).toEqual(known);
  for (const name of ['nobody', 'x'.repeat(64), 'ANNA']) expect([name, await guess({ ...wrong, name })]).toEqual([name, known]);
});

test('a right password costs no more work than a wrong one while another field is wrong', async () => {
  await setUp();
  const wrong = await guess({ password: 'a wrong password' });
  for (const over of [{ password }, { password, name: 'nobody' }]) {
    expect(await guess(over)).toEqual(wrong);
  }
});
