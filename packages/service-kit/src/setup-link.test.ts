import { expect, onTestFinished, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { systemClock } from './clock.ts';
import { createRedactor } from './redaction/redactor.ts';
import { findSetupLink, makeSetupLink, setupLinkEnd } from './setup-link.ts';

test('a link does not last longer because the clock was ahead when it was made', () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const clock = createFakeClock();
  clock.setBack(-60 * 60_000);
  const token = makeSetupLink(folder.path, clock, false);
  expect(findSetupLink(folder.path, token, clock)).not.toBe(null);
  clock.setBack(60 * 60_000);
  expect([findSetupLink(folder.path, token, clock), setupLinkEnd(folder.path, clock)]).toEqual([null, null]);
});

test('masks a setup link in text, since it allows the login to be set up', () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const token = makeSetupLink(folder.path, systemClock, false);
  expect(findSetupLink(folder.path, token, systemClock)).not.toBe(null);
  const text = `Open http://localhost:3020/setup#${token} within 15 minutes.`;
  expect(createRedactor([]).text(text)).toBe('Open http://localhost:3020/setup#[redacted:token] within 15 minutes.');
});
