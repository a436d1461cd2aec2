import { writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { readReleaseInfo, releaseFile, toReleaseInfo } from './release-info.ts';

const info = { version: '1.2.3', commit: 'a'.repeat(40), platform: 'linux-x64', archives: 'https://example.org/releases' };

test('an archive has release info, a clone has none', () => {
  const folder = temporaryFolder();
  try {
    expect(readReleaseInfo(folder.path)).toBeNull();
    writeFileSync(path.join(folder.path, releaseFile), JSON.stringify(info));
    expect(readReleaseInfo(folder.path)).toEqual(info);
  } finally {
    folder.remove();
  }
});

test.each([
  ['', '[]', 'null', '{}', 'no JSON'],
  [
    { commit: 'main' },
    { commit: '../../etc' },
    { version: '1.2' },
    { version: '../x' },
    { platform: 'linux' },
    { platform: '../-x' },
  ].map((change) => JSON.stringify({ ...info, ...change })),
])('rejects invalid release info', (...texts) => {
  expect(texts.map(toReleaseInfo)).toEqual(texts.map(() => null));
});

test('accepted values are valid in file names', () => {
  fc.assert(
    fc.property(fc.record({ version: fc.string(), commit: fc.string(), platform: fc.string() }), (found) => {
      const read = toReleaseInfo(JSON.stringify(found));
      if (read !== null) expect(`${read.version}${read.commit}${read.platform}`).toMatch(/^[\w.-]+$/);
    }),
  );
});
