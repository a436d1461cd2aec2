import { expect, test } from 'vitest';
import { plain } from '../terminal.ts';
import type { Status } from './collect-status.ts';
import { renderStatus } from './render-status.ts';

const status: Status = {
  supervisor: { pid: 7, started_at: 0, faults: [] },
  services: [
    {
      name: 'core',
      url: 'http://127.0.0.1:3023',
      pid: 8,
      healthy: true,
      version: '0.1.0',
      sha: null,
      status: 'running',
      restarts: 0,
      failures: 0,
      next_start_at: null,
      last_exit: null,
      last_lines: [],
      started_at: 0,
      reason: null,
      fix: null,
      notices: ['All together spent $17.20 this month, past the soft limit of $15.00.'],
    },
  ],
  instances: [],
  engine: null,
  turns: null,
  deliveries: null,
};

test('shows notices below a healthy process', () => {
  expect(renderStatus(status, 60_000, plain, 100).split('\n').slice(2)).toEqual([
    '● core        http://127.0.0.1:3023     pid 8, 0.1.0, up 1 min',
    '              All together spent $17.20 this month, past the soft limit of $15.00.',
  ]);
});

test('shows why a process is down, its last lines and the next start', () => {
  const core = {
    ...status.services[0]!,
    healthy: false,
    version: null,
    status: 'backoff' as const,
    failures: 7,
    next_start_at: 72_000,
    reason: 'backoff: was ended by SIGKILL',
    last_lines: ['disk full'],
    fix: './svc logs core',
    notices: [],
  };
  expect(
    renderStatus({ ...status, services: [core] }, 60_000, plain, 100)
      .split('\n')
      .slice(3),
  ).toEqual([
    '              backoff: was ended by SIGKILL',
    '              ended 7 times in a row; started again in 12 s',
    '              disk full',
    '              fix: ./svc logs core',
  ]);
});

test('shows the command that fixes a failed connector, and when a waiting one starts', () => {
  const instance = {
    id: 'm1',
    type: 'messenger',
    name: 'messenger',
    url: null,
    healthy: false,
    reason: 'no luck',
    fix: './svc connector restart m1',
  };
  const failed = { ...instance, status: 'failed' as const, next_start_at: null };
  const waiting = { ...instance, status: 'backoff' as const, next_start_at: 61_000 };
  const shown = renderStatus({ ...status, services: [], instances: [failed, waiting] }, 60_000, plain, 100);
  expect(shown).toContain('fix: ./svc connector restart m1');
  expect(shown).toContain('started again in 1 s');
});

test('shows how to unseal the vault for a connector that waits for it, without offering a restart', () => {
  const reason = 'shop waits: its secret SHOP_TOKEN may be in the vault, and the vault is sealed. Open it: ./svc vault unseal.';
  const shop = { id: 'shop', type: 'shop', name: 'shop', url: null, healthy: false, next_start_at: null };
  const shown = renderStatus(
    { ...status, services: [], instances: [{ ...shop, status: 'waiting', fix: './svc vault unseal', reason }] },
    0,
    plain,
    200,
  );
  expect(shown.split('\n').slice(-2)).toEqual([expect.stringMatching(/^● shop +waiting$/), `              ${reason}`]);
});

test('shows faults of the supervisor', () => {
  const faults = ['the log of the core cannot be written'];
  const shown = renderStatus({ ...status, supervisor: { pid: 7, started_at: 0, faults } }, 60_000, plain, 100);
  expect(shown.split('\n')[1]?.trim()).toBe(faults[0]);
});

test('wraps long text at the width of the terminal', () => {
  const why = 'No other engine is ready, and this is a sentence that goes on for longer than any line of a terminal. '.repeat(3);
  const shown = renderStatus({ ...status, engine: { id: 'offline', model: null, why: why.trim() } }, 60_000, plain, 72);
  const lines = shown.split('\n').slice(7);
  expect(lines.every((line) => line.length <= 72)).toBe(true);
  expect(lines.map((line) => line.trim()).join(' ')).toBe(why.trim());
});

test.each([
  [{ pending: 0, failed: 0 }, ['  turns       2 running, 1 waiting']],
  [
    { pending: 1, failed: 0 },
    ['  turns       2 running, 1 waiting', '  deliveries  1 reply waits for its channel: ./svc delivery'],
  ],
  [{ pending: 3, failed: 1 }, ['  turns       2 running, 1 waiting']],
])('shows the turns, and for deliveries %j only a line that is not already a notice', (deliveries, lines) => {
  const shown = renderStatus({ ...status, turns: { running: 2, waiting: 1 }, deliveries }, 60_000, plain, 100);
  expect(shown.split('\n').slice(5)).toEqual(lines);
});

test('shows other problems with the command that fixes them', () => {
  const problem = { name: 'secrets', state: 'problem' as const, text: 'open to others', fix: 'chmod 600 /x' };
  const shown = renderStatus({ ...status, problems: [problem] }, 60_000, plain, 100);
  expect(shown.split('\n').slice(-2)).toEqual(['✗ secrets       open to others', '                fix: chmod 600 /x']);
});
