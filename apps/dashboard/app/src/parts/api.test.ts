import { afterEach, expect, test, vi } from 'vitest';
import { call, onProof } from './api.ts';

afterEach(() => vi.unstubAllGlobals());

/** Answers a path when the test says so. */
function stubService() {
  const asked: { path: string; answer(status: number): void }[] = [];
  vi.stubGlobal('localStorage', { getItem: () => null });
  vi.stubGlobal('fetch', (path: string) => {
    const answered = Promise.withResolvers<Response>();
    asked.push({ path, answer: (status) => answered.resolve(Response.json({ status, step_up: status === 403 }, { status })) });
    return answered.promise;
  });
  return asked;
}

test('who signs in over the page does so once, however late the refusals of the login before come', async () => {
  const asked = stubService();
  const prove = vi.fn(async () => true);
  onProof(prove);
  const early = call('GET', '/early');
  const late = call('POST', '/late');
  asked[0]?.answer(401);
  await expect.poll(() => asked.map(({ path }) => path)).toEqual(['/early', '/late', '/early']);
  asked[1]?.answer(401);
  await expect.poll(() => asked.map(({ path }) => path)).toEqual(['/early', '/late', '/early', '/late']);
  for (const { answer } of asked.slice(2)) answer(200);
  expect(await Promise.all([early, late])).toMatchObject([{ status: 200 }, { status: 200 }]);
  expect(prove).toHaveBeenCalledTimes(1);
});

test('a login that is refused again is asked for again, and one that nobody gives is a fault', async () => {
  const asked = stubService();
  onProof(vi.fn().mockResolvedValueOnce(true).mockResolvedValueOnce(false));
  const answer = call('GET', '/a');
  answer.catch(() => undefined);
  asked[0]?.answer(401);
  await expect.poll(() => asked.length).toBe(2);
  asked[1]?.answer(401);
  await expect(answer).rejects.toMatchObject({ status: 401 });
});

test('one code is enough for all that wanted a second factor when it was given', async () => {
  const asked = stubService();
  const prove = vi.fn(async () => true);
  onProof(prove);
  const calls = [call('POST', '/early'), call('POST', '/late')];
  asked[0]?.answer(403);
  await expect.poll(() => asked.length).toBe(3);
  asked[1]?.answer(403);
  await expect.poll(() => asked.length).toBe(4);
  for (const { answer } of asked.slice(2)) answer(200);
  await Promise.all(calls);
  expect(prove).toHaveBeenCalledTimes(1);
});
