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
  result: Buffer.from(JSON.stringify({ actions: [{ type: 'reply', text }], outcome: 'replied' })),
  error: null,
  accepted_at: seq,
  ended_at: seq,
  is_too_long: 0,
  attachments: null,
  tools: null,
});

/** The prompt after missed turns with these replies, the newest last. */
async function told(replies: string[]): Promise<string> {
  const rows = replies.map((text, seq) => row(seq, text)).toReversed();
  const journal = { ended: () => Promise.resolve({ rows }) } as unknown as TurnJournal;
  const turn = { seq: 100, envelope: { conversation_key: 'k' } } as Turn;
  const session = { missed: replies.length, engine_session_id: 's' } as OpenSession;
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
