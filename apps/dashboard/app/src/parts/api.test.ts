import { afterEach, expect, test, vi } from 'vitest';
import { call, onProof } from './api.ts';

afterEach(() => vi.unstubAllGlobals());

let token: string | null = null;

/** A service whose answers are given by the test. */
function stubService() {
  const asked: { path: string; answer(status: number): void }[] = [];
  vi.stubGlobal('localStorage', { getItem: () => token });
  vi.stubGlobal('fetch', (path: string) => {
    const answered = Promise.withResolvers<Response>();
    asked.push({ path, answer: (status) => answered.resolve(Response.json({ status, step_up: status === 403 }, { status })) });
    return answered.promise;
  });
  return asked;
}

test('several calls rejected for the same expired login ask for one login', async () => {
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

test('a second rejection asks for the login again, and a cancelled login rejects the call', async () => {
  const asked = stubService();
  onProof(vi.fn().mockResolvedValueOnce(true).mockResolvedValueOnce(false));
  const answer = call('GET', '/a');
  answer.catch(() => undefined);
  asked[0]?.answer(401);
  await expect.poll(() => asked.length).toBe(2);
  asked[1]?.answer(401);
  await expect(answer).rejects.toMatchObject({ status: 401 });
});

test('one code is enough for all calls that were waiting for a second factor', async () => {
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

test('a call that was on its way while another tab signed in again is repeated, and nobody is asked', async () => {
  const asked = stubService();
  const prove = vi.fn(async () => false);
  onProof(prove);
  const answer = call('GET', '/a');
  token = 'of the other tab';
  asked[0]?.answer(401);
  await expect.poll(() => asked.length).toBe(2);
  asked[1]?.answer(200);
  expect(await answer).toMatchObject({ status: 200 });
  expect(prove).not.toHaveBeenCalled();
  token = null;
});
