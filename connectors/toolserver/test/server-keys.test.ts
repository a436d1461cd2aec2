import { defaultsOf, fakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { meta } from '../src/index.ts';
import { openServerKeys } from '../src/oauth/server-keys.ts';

const dayMs = 24 * 60 * 60_000;

test('renews the keys after 90 days, and keeps the previous cookie key valid', async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const { state } = fakeContext({ type: meta.type, dataDir: folder.path, config: defaultsOf(meta) }).context;
  const clock = createFakeClock();
  const first = await openServerKeys(state, clock);
  clock.advance(90 * dayMs - 1);
  expect(await openServerKeys(state, clock)).toMatchObject(first);
  clock.advance(1);
  const second = await openServerKeys(state, clock);
  expect(second.cookieKeys).toEqual([expect.any(String), first.cookieKeys[0]]);
  expect(second.cookieKeys[0]).not.toBe(first.cookieKeys[0]);
  expect(second.signingKey).not.toEqual(first.signingKey);
  clock.advance(90 * dayMs);
  const third = await openServerKeys(state, clock);
  expect(third.cookieKeys.slice(1)).toEqual([second.cookieKeys[0]]);
  clock.setBack(200 * dayMs); // with keys from a clock that was ahead
  expect((await openServerKeys(state, clock)).cookieKeys.slice(1)).toEqual([third.cookieKeys[0]]);
});
