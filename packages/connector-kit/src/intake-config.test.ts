import { expect, test } from 'vitest';
import { intakeConfig, intakeOf } from './intake-config.ts';

test.each([
  [
    { debounce_ms: 1500, pairing: true },
    { debounce_ms: 1500, pairing: true },
  ],
  [{ debounce_ms: 1500, pairing: false }, { debounce_ms: 1500 }],
  [{ pairing: true, port: 1 }, { pairing: true }],
  [{ debounce_ms: 60_000 }, { debounce_ms: 60_000 }],
  [
    { gather: 'conversation', quiet_strangers: true },
    { gather: 'conversation', quiet_strangers: true },
  ],
])('intakeOf(%j) is %j', (config, intake) => {
  expect(intakeOf(config)).toEqual(intake);
});

test.each([
  [{}],
  [{ port: 1 }],
  [{ debounce_ms: 0, pairing: false }],
  [{ debounce_ms: -1 }],
  [{ debounce_ms: 1.5 }],
  [{ debounce_ms: 60_001 }],
  [{ gather: 'sender', quiet_strangers: false }],
  [{ gather: 'all', quiet_strangers: 'yes' }],
  [{ debounce_ms: '1500', pairing: 'yes' }],
])('intakeOf(%j) is undefined', (config) => {
  expect(intakeOf(config)).toBeUndefined();
});

test('by default, messages are answered one by one and pairing codes are offered', () => {
  expect(intakeOf({ debounce_ms: intakeConfig.debounce_ms.default, pairing: intakeConfig.pairing.default })).toEqual({
    pairing: true,
  });
});
