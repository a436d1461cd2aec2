import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareVersions, newestRelease, releaseOf } from './release-tag.ts';

test('releaseOf() accepts v and three numbers, without pre-releases, other tags and leading zeros', () => {
  expect(releaseOf('v1.10.0')).toEqual({ tag: 'v1.10.0', version: '1.10.0' });
  for (const tag of ['1.0.0', 'v1.0', 'v1.0.0-rc.1', 'v1.0.0+b', 'v01.0.0', 'v1.0.0 ', 'nightly', '', 'v', 'vv1.0.0'])
    expect(releaseOf(tag)).toBeNull();
});

test('the newest release is chosen by numeric order', () => {
  expect(newestRelease(['v1.9.0', 'v1.10.0', 'v2.0.0-beta.1', 'junk', 'v1.2.99'])?.tag).toBe('v1.10.0');
  expect(newestRelease(['junk'])).toBeNull();
});

const version = fc.tuple(fc.nat(300), fc.nat(300), fc.nat(300)).map((parts) => parts.join('.'));

test('compareVersions() is a total order', () => {
  fc.assert(
    fc.property(version, version, version, (a, b, c) => {
      expect(Math.sign(compareVersions(a, b))).toBe(-Math.sign(compareVersions(b, a)) + 0);
      if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0) expect(compareVersions(a, c)).toBeLessThanOrEqual(0);
      if (compareVersions(a, b) === 0) expect(a).toBe(b);
    }),
  );
});

test('an invalid version is older than every version', () => {
  expect(compareVersions('unknown', '0.0.0')).toBeLessThan(0);
});
