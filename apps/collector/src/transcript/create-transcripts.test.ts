import { systemClock } from '@svc/service-kit/clock.ts';
import { expect, test, vi } from 'vitest';
import { createTranscripts } from './create-transcripts.ts';

vi.mock('node:os', async (original) => ({
  ...(await original<object>()),
  userInfo() {
    throw new Error('uv_os_get_passwd returned ENOENT');
  },
}));

test('a user without a name, as in a container, does not prevent the start', async () => {
  const settings = {
    transcripts: 'follow',
    dataDir: import.meta.dirname,
    insightsToken: null,
    insightsControlToken: null,
    managerToken: null,
  };
  const root = { engine: 'claude', dir: '/nowhere/at/all', folders: [], file: /^$/ };
  // Only the dependencies used before reading begins.
  const deps = { settings, roots: [root], clock: systemClock } as unknown as Parameters<typeof createTranscripts>[0];
  const transcripts = createTranscripts(deps);
  await expect(transcripts.close()).resolves.toBeUndefined();
});
