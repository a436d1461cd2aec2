import { expect, test } from 'vitest';
import { openLoginParts } from '../../test/open-login-parts.ts';

const pass = async () => 'passed';

test('a wrong guess delays the next one of its source by 1, 2, 4 … 30 s', async () => {
  const { clock, throttle } = openLoginParts();
  for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
    await throttle.fail('stranger');
    clock.advance(seconds * 1_000 - 1);
    const refused = throttle.inTurn('stranger', pass);
    await expect(refused).rejects.toMatchObject({ code: 'busy', details: { retry_after_s: 1 } });
    clock.advance(1);
    expect(await throttle.inTurn('stranger', pass)).toBe('passed');
  }
});

test('consecutive wrong guesses are counted for each source, until a right one', async () => {
  const { db, throttle } = openLoginParts();
  expect([await throttle.fail('device:a'), await throttle.fail('device:a'), await throttle.fail('device:b')]).toEqual([1, 2, 1]);
  for (const source of ['stranger', 'session:a', 'recovery:a'] as const)
    expect(await throttle.inTurn(source, pass)).toBe('passed');
  await throttle.clear(db, 'device:a');
  expect(await throttle.inTurn('device:a', pass)).toBe('passed');
  await expect(throttle.inTurn('device:b', pass)).rejects.toMatchObject({ code: 'busy' });
  expect(await throttle.fail('device:a')).toBe(1);
});

test('a clock that is set back locks no one out', async () => {
  const { clock, throttle } = openLoginParts();
  for (let times = 0; times < 6; times++) await throttle.fail('stranger');
  await expect(throttle.inTurn('stranger', pass)).rejects.toMatchObject({ details: { retry_after_s: 30 } });
  clock.setBack(1_000);
  expect(await throttle.inTurn('stranger', pass)).toBe('passed');
});

test('concurrent guesses are checked one after another, and the first wrong one rejects the rest', async () => {
  const { throttle } = openLoginParts();
  let looked = 0;
  const guess = () => throttle.inTurn('stranger', async () => (looked++, throttle.fail('stranger')));
  const answers = await Promise.allSettled([guess(), guess(), guess()]);
  expect([answers.map(({ status }) => status), looked]).toEqual([['fulfilled', 'rejected', 'rejected'], 1]);
});

test('strangers are rejected when eight of them wait, known browsers are not', async () => {
  const { throttle } = openLoginParts();
  const held = Promise.withResolvers<void>();
  const waiting = Array.from({ length: 8 }, () => throttle.inTurn('stranger', () => held.promise));
  await expect(throttle.inTurn('stranger', pass)).rejects.toMatchObject({ code: 'queue_full' });
  expect(await throttle.inTurn('device:a', pass)).toBe('passed');
  held.resolve();
  await Promise.all(waiting);
});

test('wrong guesses are forgotten after a month', async () => {
  const { clock, db, throttle } = openLoginParts();
  for (let count = 0; count < 5; count++) await throttle.fail(`session:${count}`);
  clock.advance(31 * 24 * 3_600_000);
  await throttle.fail('stranger');
  expect(await db.all('SELECT source FROM login_throttle')).toEqual([{ source: 'stranger' }]);
});
