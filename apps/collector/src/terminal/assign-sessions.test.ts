import { expect, test } from 'vitest';
import { assignSessions } from './assign-sessions.ts';
import { engineOf } from './engine-processes.ts';

const at = 1_000_000;
const program = (pid: number, began: number, more: object = {}) => ({
  pid,
  engine: 'codex' as const,
  args: ['codex'],
  cwd: '/r',
  began,
  ...more,
});
const session = (id: string, started_at: number, last_at: number, more: object = {}) => ({
  engine: 'codex' as const,
  engine_session_id: id,
  conversation_key: id,
  cwd: '/r',
  is_interactive: null,
  started_at,
  last_at,
  ...more,
});
type Programs = Parameters<typeof assignSessions>[0];
type Sessions = Parameters<typeof assignSessions>[1];
const assigned = (programs: Programs, sessions: Sessions, named: [number, string][] = []) =>
  Object.fromEntries([...assignSessions(programs, sessions, new Map(named))].map(([key, { pid }]) => [key, pid]));

test('a program runs the session last written in its folder since it started', () => {
  const sessions = [
    session('old', at - 90_000, at - 80_000),
    session('a', at + 1000, at + 2000),
    session('b', at + 3000, at + 4000),
  ];
  expect(assigned([program(1, at)], sessions)).toEqual({ b: 1 });
});

test('a session belongs to the last program that started in its folder before it', () => {
  const programs = [program(1, at), program(2, at + 50_000)];
  expect(assigned(programs, [session('a', at + 1000, at + 60_000), session('b', at + 51_000, at + 52_000)])).toEqual({
    a: 1,
    b: 2,
  });
});

test('a resumed session belongs to the program that names it, or to the only one', () => {
  const old = session('old', at - 90_000, at + 5000);
  expect(assigned([program(1, at)], [old])).toEqual({ old: 1 });
  const programs = [program(1, at, { args: ['codex', 'resume', 'old'] }), program(2, at + 1000)];
  expect(assigned(programs, [old])).toEqual({ old: 1 });
});

test('a session reported by the program itself takes precedence over its folder', () => {
  const sessions = [session('a', at + 1000, at + 2000), session('b', at + 3000, at + 4000)];
  expect(
    assigned([program(1, at), program(2, at + 10)], sessions, [
      [1, 'b'],
      [2, 'a'],
    ]),
  ).toEqual({ a: 2, b: 1 });
  expect(assigned([program(1, at)], sessions, [[1, 'not there yet']])).toEqual({});
});

test('a session of a non-interactive program is not assigned to an interactive one, nor the reverse', () => {
  const exec = program(2, at + 10, { args: ['codex', 'exec', 'do it'] });
  const asked = session('asked', at + 1000, at + 2000, { is_interactive: 0 });
  expect(assigned([program(1, at)], [asked])).toEqual({});
  expect(assigned([program(1, at), exec], [asked])).toEqual({ asked: 2 });
  expect(assigned([exec], [session('typed', at + 1000, at + 2000, { is_interactive: 1 })])).toEqual({});
});

test.each([
  ['another engine', { engine: 'gemini' as const }],
  ['another folder', { cwd: '/r/sub' }],
  ['one that is not shown', { conversation_key: null }],
])('a session of %s is not assigned to the program', (_name, more) => {
  expect(assigned([program(1, at)], [session('a', at + 1000, at + 2000, more)])).toEqual({});
});

test.each([
  [['/usr/bin/claude', '--resume'], 'claude'],
  [['claude'], 'claude'],
  [['node', '/usr/lib/node_modules/.bin/gemini', '-p'], 'gemini'],
  [['/n/bin/node', '--max-old-space-size=99', '/x/bundle/gemini.js'], 'gemini'],
  [['codex', 'resume', 'x'], 'codex'],
  [['codex', 'app-server'], null],
  [['codex', 'mcp-server'], null],
  [['gemini', '--acp'], null],
  [['vim', '/home/me/claude'], null],
  [['node', 'server.js', 'claude'], null],
  [['bash', '-c', 'claude'], null],
  [[''], null],
])('%j runs %s', (args, engine) => {
  expect(engineOf(args)).toBe(engine);
});
