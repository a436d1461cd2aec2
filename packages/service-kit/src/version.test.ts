import { expect, test } from 'vitest';
import { isNewer } from './version.ts';

test.each([
  ['0.170.0', '0.169.0', true],
  ['0.169.0', '0.169.0', false],
  ['0.168.9', '0.169.0', false],
  ['1.0.0', '0.999.999', true],
  ['0.10.0', '0.9.0', true],
  ['0.170.0-beta.1', '0.169.0', false],
  ['0.170.0', '0.170.0-beta.1', true],
])('%s after %s: %s', (version, than, expected) => expect(isNewer(version, than)).toBe(expected));
