import { costOfTokens } from '@svc/service-kit/pricing/money.ts';
import { expect, test } from 'vitest';
import type { SessionHost } from '../terminal/session-hosts.ts';
import { newTranscript } from '../transcript/transcript-row.ts';
import { newRow } from './session-row.ts';
import { toListed, type SessionParts } from './to-listed.ts';

const key = 'terminal:claude:s1';
const file = { file: '/f', engine: 'claude', engine_session_id: 's1', cwd: null, is_whole: 1, file_id: '1:1' } as const;
const host: SessionHost = {
  pid: 7,
  parent: 1,
  user: 1,
  startedAt: '5',
  engine: 'claude',
  args: [],
  cwd: '/r',
  began: 1,
  ancestors: [],
  workers: [],
  pane: { socket: null, id: '%1', pid: 7 },
};
const listed = (conversationKey: string, parts: Partial<SessionParts>) =>
  toListed(newRow(conversationKey, 1), {
    transcript: undefined,
    host: undefined,
    facts: undefined,
    isHostKnown: true,
    isRecent: true,
    costOf: (model, tokens) => (model === 'm' ? costOfTokens(tokens, { in: 10, out: 100, cache_read: 1 }) : null),
    ...parts,
  });

test('a session without a folder in its transcript takes that of its program', () => {
  expect(listed(key, { transcript: { ...newTranscript(file), conversation_key: key }, host })).toMatchObject({
    source: 'terminal',
    cwd: '/r',
    active: true,
  });
});

test('a terminal session is not attributed to the core before its transcript is known', () => {
  expect(listed(key, {})).toMatchObject({ source: 'transcript', state: 'ended', active: false, input_tokens: null });
  expect(listed(key, { isHostKnown: false })).toMatchObject({ source: 'transcript', state: 'idle', active: true });
  expect(listed('terminal:claude:user:7', {})).toMatchObject({ source: 'core', state: 'idle', active: true });
  expect(listed('compat:c1:s1', {})).toMatchObject({ source: 'core', input_tokens: 0 });
});

test('the cost of a terminal session is calculated at list prices, and its billing is unknown', () => {
  const tokens = { input_tokens: 100_000, output_tokens: 10_000, cache_read_tokens: 1_000_000, cache_write_tokens: 0 };
  const transcript = { ...newTranscript(file), conversation_key: key, model: 'm', ...tokens };
  expect(listed(key, { transcript })).toMatchObject({ cost_usd: 3, billed_cost_usd: null, input_tokens: 100_000 });
  for (const unknown of [{ model: 'other' }, { model: null }, { cache_read_tokens: null }])
    expect(listed(key, { transcript: { ...transcript, ...unknown } })).toMatchObject({ cost_usd: null, billed_cost_usd: null });
});
