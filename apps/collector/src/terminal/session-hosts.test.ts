import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { createSessionHosts } from './session-hosts.ts';

test.skipIf(process.platform !== 'linux')(
  'programs are listed again after two seconds, even when the clock was set back',
  async () => {
    const clock = createFakeClock();
    const transcripts = { since: () => Promise.resolve([]) };
    const hosts = createSessionHosts({
      transcripts,
      clock,
      processFolders: [],
      serviceSocket: '/nowhere/tmux.sock',
      onChanged: () => undefined,
    });
    const first = await hosts.current();
    clock.advance(1999);
    expect(await hosts.current()).toBe(first);
    clock.setBack(3_600_000);
    clock.advance(1);
    expect(await hosts.current()).not.toBe(first);
    await hosts.close();
  },
);
