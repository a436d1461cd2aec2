import { homedir } from 'node:os';
import type { ListedSession } from '@svc/contract/session.ts';
import { listedSession } from '@svc/testing/listed-session.ts';
import { expect, test } from 'vitest';
import { plain } from '../terminal.ts';
import { renderSessions } from './render-sessions.ts';

const session = listedSession('k', {
  surface: 'compat',
  identity: 'u',
  state: 'running',
  active: true,
  last_text: 'hi',
  events: 5,
  turns: 3,
  input_tokens: 900,
  output_tokens: 200,
});
const terminal: ListedSession = {
  ...session,
  conversation_key: 'terminal:claude:5350c988-5f52-4ec7-8728-4642e7792d28',
  source: 'terminal',
  surface: 'terminal',
  state: 'idle',
  engine_id: 'claude',
  model: 'claude-opus-5-5',
  title: 'Fix the login',
  cwd: `${homedir()}/src/app`,
  repo: `${homedir()}/src/app`,
  pid: 7,
  multiplexer: 'tmux',
  tmux_target: '%3',
  cost_usd: 0.5,
};
const shown = (one: ListedSession) => renderSessions([one], 5000, plain).split('\n');

test('a session shows sender, usage and last text', () => {
  expect(shown(session)).toEqual(['  k', '      running, u, compat, 3 turns, 1.1k tokens, 5 s ago', '      "hi"']);
});

test('a session without a known price is not shown as free', () => {
  expect(shown({ ...session, cost_usd: null, unpriced: 3 })[1]).toContain('1.1k tokens, price unknown, 5 s ago');
  expect(shown({ ...session, cost_usd: 0.5, unpriced: 1 })[1]).toContain('1.1k tokens, $0.50 and 1 without a price');
  expect(shown({ ...session, cost_usd: null, input_tokens: null, output_tokens: null })[1]).not.toContain('price');
});

test('a terminal session shows title, folder and terminal', () => {
  expect(shown(terminal)).toEqual([
    '  Fix the login',
    '      terminal:claude:5350c988-5f52-4ec7-8728-4642e7792d28',
    '      active, u, terminal, claude claude-opus-5-5, 3 turns, 1.1k tokens, $0.50',
    '      5 s ago',
    '      ~/src/app (git), tmux %3',
    '      "hi"',
  ]);
});

test('no line is wider than 80 columns', () => {
  const long = 'word '.repeat(100);
  const cwd = `/${'folder/'.repeat(40)}end`;
  const lines = shown({
    ...terminal,
    title: long,
    cwd,
    repo: cwd,
    last_text: long,
    principal: 'p'.repeat(100),
    model: 'm'.repeat(100),
  });
  expect(Math.max(...lines.map((text) => text.length))).toBeLessThanOrEqual(80);
  expect(lines.join('\n')).toContain('folder/end (git), tmux %3');
});

test.each([
  [{ state: 'ended' as const, active: false }, 'ended, u'],
  [{ state: 'claimed' as const }, 'claimed, u'],
  [{ state: 'idle' as const, active: false }, 'idle, u'],
])('a session with %j begins with its state', (more, first) => {
  expect(shown({ ...session, ...more })[1]?.trim()).toMatch(new RegExp(`^${first}`));
});

test('unknown token counts are omitted, and control characters are escaped', () => {
  const lines = shown({ ...session, input_tokens: null, title: 'a\u001b[2Jb\n', last_text: '\u0007' });
  for (const sign of ['tokens', '\u001b', '\u0007']) expect(lines.join('\n')).not.toContain(sign);
});
