import { startCliCore, type CliCore } from '@svc/testing/run-svc.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';

let core: CliCore;
beforeAll(async () => void (core = await startCliCore()));
afterAll(() => core.close());

const persona = (...args: string[]) => core.svc(['persona', ...args]);

test('shows the persona of an engine for a tier, with its size and with what the engine adds', async () => {
  const guest = await persona('--engine', 'codex', '--tier', 'guest');
  expect(guest).toMatchObject({ code: 0, err: '' });
  expect(guest.out).toMatch(/^codex in a turn of guest, with no tools of its own \(\d+ bytes\):\n\nYou are assistant,/);
  const owner = JSON.parse((await persona('--engine', 'claude', '--json')).out) as object;
  expect(owner).toMatchObject({ engine: 'claude', tier: 'SACRED', tool_policy: 'full' });
});

test('shows the persona of the engine in use by default', async () => {
  expect((await persona('--tier', 'known')).out).toMatch(/^offline in a turn of known/);
});

test.each([
  [['--engine', 'nothing'], 'nothing', 1],
  [['--tier', 'blocked'], 'owner, trusted, known or guest', 2],
  [['edit', '--tier', 'guest'], "unknown option '--tier'", 2],
])('%j fails with the reason', async (args, why, exitCode) => {
  const { code, err } = await persona(...args);
  expect([code, err.replaceAll(/\s+/g, ' ')]).toEqual([exitCode, expect.stringContaining(why)]);
});
