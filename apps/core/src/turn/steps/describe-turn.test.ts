import { expect, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { Turn } from '../turn.ts';
import { describeTurn } from './describe-turn.ts';

const anna = { display_name: 'Anna', trust_tier: 'SACRED' } as Identity;
const turnOf = (over: Partial<Envelope> = {}, rest: Partial<Turn> = {}): Turn => ({
  id: 't',
  seq: 1,
  requestId: 'r',
  envelope: { channel: 'messenger', conversation_key: 'k', sender: { raw_id: '1' }, content: { text: 'hi' }, ...over },
  instanceId: null,
  ...rest,
});
const now = Date.UTC(2026, 10, 22, 12, 0);
const time = String.raw`\w+day 2026-11-2\d \d\d:00 \([\w/+-]+\)`;

test('the facts name sender, trust in plain words, channel and time with its zone', () => {
  expect(describeTurn(turnOf(), anna, now)).toMatch(
    new RegExp(String.raw`^\[message from "Anna" \(owner\) over messenger, in private, on ${time}\]$`),
  );
  const guest = { display_name: 'G', trust_tier: 'GUEST' } as Identity;
  expect(describeTurn(turnOf({ public: true }), guest, now)).toContain('"G" (guest) over messenger, in public');
});

test.each([
  [{}, ''],
  [{ supports_markdown: true, max_message_chars: 4096 }, '; it shows Markdown; it takes 4096 characters a message'],
  [{ supports_markdown: false, supports_code_blocks: true }, '; it shows plain text and code blocks'],
  [{ supports_markdown: false }, '; it shows plain text alone'],
])('the facts name what the channel can show: %j', (capabilities, said) => {
  expect(describeTurn(turnOf({ capabilities }), anna, now)).toMatch(new RegExp(`\\)${said}\\]$`));
});

test('the facts name the operator who steers, and a restart that cut the turn off', () => {
  const steering = { by: 'bo', wasRunning: true, principalId: null };
  expect(describeTurn(turnOf({}, { steering, isResumed: true }), anna, now)).toMatch(
    /^\[steering from the operator \("bo"\), while you were at work here;.*\]\n\[the service was restarted.*\]$/,
  );
});
