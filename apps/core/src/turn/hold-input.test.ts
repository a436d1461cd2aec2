import { expect, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import { createIntake, intakeLimits } from '@svc/service-kit/intake/intake.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { holdInput, weightOf } from './hold-input.ts';

const envelope = (length: number): Envelope => ({
  channel: 'cli',
  conversation_key: 'k',
  sender: { raw_id: 'a' },
  content: { text: 'x'.repeat(length) },
});

test('the input of all running turns is limited together, and releasing it is idempotent', () => {
  const folder = temporaryFolder();
  const intake = createIntake(folder.path, { ...intakeLimits, workBytes: 200_000 });
  const release = holdInput(intake, envelope(150_000));
  expect(() => holdInput(intake, envelope(100_000))).toThrow(/Too much/);
  holdInput(intake, envelope(100));
  expect(intake.fault()).toMatch(/1 request was refused/);
  release();
  release();
  expect(intake.work.held).toBe(0);
  holdInput(intake, envelope(150_000));
  folder.remove();
});

test('weightOf() counts names, empty parts and deep nesting', () => {
  expect(weightOf({ ['n'.repeat(1000)]: 1 })).toBeGreaterThan(1000);
  expect(weightOf(Array.from({ length: 1000 }, () => []))).toBeGreaterThan(1000 * 16);
  let deep: unknown = null;
  for (let n = 0; n < 100_000; n++) deep = [deep];
  expect(weightOf(deep)).toBeGreaterThan(100_000);
});
