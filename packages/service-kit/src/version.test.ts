import { expect, test } from 'vitest';
import { repositoryRoot } from './run-service.ts';
import { isNewer, readVersion } from './version.ts';

test('the version of a process has the current update channel', () => {
  let channel = 'stable';
  const version = readVersion(repositoryRoot, 'core', () => channel);
  const said = JSON.stringify(version);
  channel = 'edge';
  expect(JSON.stringify(version)).toBe(said.replace('"channel":"stable"', '"channel":"edge"'));
});

test.each([
  ['0.170.0', '0.169.0', true],
  ['0.169.0', '0.169.0', false],
  ['0.168.9', '0.169.0', false],
  ['1.0.0', '0.999.999', true],
  ['0.10.0', '0.9.0', true],
  ['0.170.0-beta.1', '0.169.0', false],
  ['0.170.0', '0.170.0-beta.1', true],
])('isNewer(%s, %s) is %s', (version, than, expected) => expect(isNewer(version, than)).toBe(expected));
