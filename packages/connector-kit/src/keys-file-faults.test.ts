import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { createKeysFile } from './keys-file.ts';

/** As when a process has too many files open. */
function breakReading(): () => void {
  const real = fs.readFileSync;
  const set = (read: typeof real) => {
    fs.readFileSync = read;
    syncBuiltinESMExports();
  };
  set(() => {
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  });
  return () => set(real);
}

test('[K04] a keys file that could not be read for a while lets its callers in again by itself', () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const file = path.join(folder.path, 'keys.json');
  fs.writeFileSync(file, JSON.stringify({ keys: [{ key: 'ann-key', identity: 'ann' }] }), { mode: 0o600 });
  const clock = createFakeClock();
  const logs: string[] = [];
  const keys = createKeysFile({ file, clock, log: (level, message) => void logs.push(`${level}: ${message}`) });
  const mend = breakReading();
  onTestFinished(mend);
  for (let second = 0; second < 5; second++) {
    expect(keys.find('ann-key')).toBeNull();
    clock.advance(1000);
  }
  expect(logs).toEqual(['error: The keys file lets nobody in: it cannot be read (EMFILE).']);
  mend();
  expect(keys.find('ann-key')?.identity).toBe('ann');
  expect(keys.problem()).toBeNull();
});
