import { expect, test } from 'vitest';
import type { HistoryRow } from '../turn-history.ts';
import type { TurnJournal } from '../turn-journal.ts';
import type { Turn } from '../turn.ts';
import type { OpenSession } from '../../session/session-store.ts';
import type { Prompt } from './build-prompt.ts';
import { withMissedTurns } from './missed-turns.ts';

const row = (seq: number, text: string): HistoryRow => ({
  seq,
  id: `t${seq}`,
  message_id: null,
  state: 'delivered',
  sender: 'anna',
  origin: 'message',
  text: Buffer.from(`asked ${seq}`),
  result: Buffer.from(JSON.stringify({ actions: [{ type: 'reply', text }], outcome: 'replied', engine_id: 'other' })),
  error: null,
  accepted_at: seq,
  ended_at: seq,
  is_too_long: 0,
  attachments: null,
  tools: null,
});

/** A chat command, or a message that moderation refused: no engine had it. */
const kept = (seq: number): HistoryRow => ({
  ...row(seq, ''),
  text: Buffer.from('kept from engines'),
  result: Buffer.from(JSON.stringify({ actions: [{ type: 'reply', text: 'no "engine_id":"x"' }], outcome: 'blocked' })),
});

/** The prompt after missed turns with these replies, the newest last. */
const told = (replies: string[]): Promise<string> =>
  toldOf(
    replies.map((text, seq) => row(seq, text)),
    replies.length,
  );

async function toldOf(oldestFirst: HistoryRow[], missed: number): Promise<string> {
  const rows = oldestFirst.toReversed();
  const journal = { ended: () => Promise.resolve({ rows }) } as unknown as TurnJournal;
  const turn = { seq: 100, envelope: { conversation_key: 'k' } } as Turn;
  const session = { missed, engine_session_id: 's' } as OpenSession;
  const prompt = { text: 'now', transcript: [] } as unknown as Prompt;
  return (await withMissedTurns({ journal }, turn, prompt, session)).text;
}

test('missed turns are described in order', async () => {
  const text = await told(['one', 'two']);
  expect(text.indexOf('one')).toBeLessThan(text.indexOf('two'));
  expect(text.endsWith('now')).toBe(true);
});

test('missed turns are limited in length, and the newest take precedence', async () => {
  const text = await told(Array.from({ length: 20 }, (_, n) => `reply ${n} ${'x'.repeat(1_000_000)}`));
  expect(text.length).toBeLessThan(110_000);
  expect(text).toContain('reply 19');
  expect(text).not.toContain('reply 3 ');
});

test('messages that no engine had are left out, and do not take the place of missed turns', async () => {
  const text = await toldOf([row(1, 'one'), row(2, 'two'), kept(3), row(4, 'three'), kept(5), kept(6)], 2);
  expect(text).toContain('two');
  expect(text).toContain('three');
  expect(text).not.toContain('one');
  expect(text).not.toContain('kept from engines');
});
