import type { TelemetryEvent } from '@svc/contract/event.ts';
import { expect, test } from 'vitest';
import { plain } from '../terminal.ts';
import { renderEvent } from './render-event.ts';
import { renderSearch } from './render-search.ts';
import { renderSessions } from './render-sessions.ts';
import { renderUsage } from './render-usage.ts';
import { since } from './since.ts';

const rollup = {
  bucket_hour: Date.parse('2026-03-04T10:00:00'),
  surface: 'compat',
  identity: 'anna',
  principal: 'anna',
  turns: 2,
  input_tokens: 1500,
  output_tokens: 20,
  cache_read_tokens: 500,
  cache_write_tokens: 0,
  estimated_turns: 0,
  unpriced_turns: 1,
  cost_usd: 1.5,
  billed_cost_usd: 0.001,
};

test('usage is summed by surface, person or day, billed beside the list price', () => {
  const answer = { usage: [rollup, { ...rollup, principal: null, identity: 'x', cost_usd: 0.5 }], aux: [], truncated: true };
  expect(renderUsage(answer, 'surface', plain).split('\n').slice(0, 3)).toEqual([
    '  SURFACE  TURNS  INPUT  OUTPUT  LIST PRICE  BILLED',
    '  compat       4   4.0k      40       $2.00  <$0.01',
    '  all          4   4.0k      40       $2.00  <$0.01',
  ]);
  const byPerson = renderUsage(answer, 'identity', plain);
  expect(byPerson).toContain('x (not linked)');
  expect(byPerson).toContain('2 turns have no known price');
  expect(byPerson).toContain('Older hours were left out');
  expect(renderUsage(answer, 'day', plain)).toContain('2026-03-04');
  expect(renderUsage({ usage: [], aux: [], truncated: false }, 'day', plain)).toBe('Nothing was used in this time.');
});

const event = {
  ts: 0,
  kind: 'inbound',
  surface: 'compat',
  session: 'k',
  identity: 'u1',
  principal: 'anna',
  text: 'a\n\u001b[2Jb',
  payload: {},
};

test('an event is one line, and nothing in it commands the terminal', () => {
  const shown = renderEvent(event as unknown as TelemetryEvent, plain);
  expect(shown).toContain('inbound      compat anna k  a \\x1b[2Jb');
  expect(shown).not.toContain('\n');
  expect(renderEvent({ ...event, text: null, payload: { what: 'x' } } as unknown as TelemetryEvent, plain)).toContain(
    '{"what":"x"}',
  );
});

test('what is found shows the words in place', () => {
  const session = { conversation_key: 'k', surface: null, identity: null, principal: 'anna', active: false, event_id: 'e' };
  const found = {
    ...session,
    hits: 2,
    last_hit_at: 0,
    snippet: 'the quick\u001b fox',
    highlights: [[4, 9]] as [number, number][],
  };
  const answer = { q: 'quick', since: 0, sessions: [found], hits: 2, capped: true, complete: false };
  const bold = { ...plain, bold: (text: string) => `*${text}*` };
  const shown = renderSearch(answer, 60_000, bold);
  expect(shown).toContain('the *quick*\\x1b fox');
  expect(shown).toContain('anna, 2 hits');
  expect(shown).toContain('more than 2 hits');
  expect(shown).toContain('not searched yet');
});

test('a session tells who, how much and what was said last', () => {
  const tokens = { input_tokens: 900, output_tokens: 200, cost_usd: 0 };
  const facts = {
    conversation_key: 'k',
    surface: 'compat',
    identity: 'u',
    principal: null,
    state: 'running',
    active: true,
    ...tokens,
  };
  const shown = renderSessions([{ ...facts, last_event_at: 0, last_text: 'hi', turns: 3 }], 5000, plain);
  expect(shown).toContain('running, u, 3 turns, 1.1k tokens, -, 5 s ago');
  expect(shown).toContain('"hi"');
});

test.each([
  ['30m', 1_000_000_000 - 1_800_000],
  ['2d', 1_000_000_000 - 172_800_000],
  ['2026-01-31', Date.parse('2026-01-31')],
])('%s is a time', (text, time) => {
  expect(since(text, 1_000_000_000)).toBe(time);
});
