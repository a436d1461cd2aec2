import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { systemClock } from './clock.ts';
import { createRedactor } from './redaction/redactor.ts';
import { findSetupLink, makeSetupLink } from './setup-link.ts';

test('a text that shows the link is masked: who has it may set up the login', () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const token = makeSetupLink(folder.path, systemClock, false);
  expect(findSetupLink(folder.path, token, systemClock)).not.toBe(null);
  const text = `Open http://localhost:3020/setup#${token} within 15 minutes.`;
  expect(createRedactor([]).text(text)).toBe('Open http://localhost:3020/setup#[redacted:token] within 15 minutes.');
});
