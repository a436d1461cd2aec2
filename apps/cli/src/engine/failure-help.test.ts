import { expect, test } from 'vitest';
import { errorCodes } from '@svc/contract/error-body.ts';
import { describeFailure, failureCommand, testFailure } from './failure-help.ts';

test.each([
  ['codex', 'engine_not_installed', './svc engine install codex'],
  ['claude', 'engine_not_logged_in', './svc engine login claude'],
  ['gemini', 'engine_auth_failed', './svc engine key gemini'],
  ['codex', 'engine_bad_model', './svc engine model codex'],
  ['codex', 'engine_endpoint_down', './svc engine'],
  ['codex', 'engine_rate_limited', null],
] as const)('%s with %s suggests %s', (id, error, command) => {
  expect(failureCommand(id, error)).toBe(command);
});

test('every error code suggests a command of svc or none', () => {
  for (const error of errorCodes) expect(failureCommand('codex', error) ?? './svc ').toMatch(/^\.\/svc /);
});

test('a message that names a command gets no second one, but a failed test always does', () => {
  const body = {
    ok: false,
    error: 'engine_not_installed',
    message: 'Run "./svc engine install codex".',
    request_id: 'r',
  } as const;
  expect(describeFailure('codex', body)).toBe(body.message);
  expect(describeFailure('codex', { ...body, message: 'Gone.' })).toBe('Gone. Run: ./svc engine install codex');
  expect(testFailure('codex', body)).toMatchObject({
    message: 'codex gave no answer (engine_not_installed).',
    run: './svc engine install codex',
  });
});
