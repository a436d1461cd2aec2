import type { SupervisorState } from '@svc/contract/service.ts';
import { expect, test } from 'vitest';
import { restartFault } from './examine-service.ts';

const service = { pid: 1, status: 'backoff', restarts: 1, failures: 1, last_exit: null } as const;
const stateOf = (given: object) => ({ pid: 1, services: [{ ...service, name: 'core', ...given }] }) as unknown as SupervisorState;

test.each([
  ['has failed once', { failures: 1 }, null],
  ['has failed twice', { failures: 2, last_exit: { reason: 'ended with exit code 1' } }, 'the core ended with exit code 1'],
  ['has failed twice for no known reason', { failures: 2 }, 'the core ends again and again'],
  ['is not started again', { status: 'failed', last_exit: { reason: 'refused' } }, 'the core refused'],
  ['is optional', { name: 'dashboard', failures: 5 }, null],
])('a host process that %s', (_what, given, fault) => expect(restartFault(stateOf(given))).toBe(fault));

test('reports nothing while the service does not run', () => expect(restartFault(null)).toBeNull());
