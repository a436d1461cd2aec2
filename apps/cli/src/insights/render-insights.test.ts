import type { TelemetryEvent } from '@svc/contract/event.ts';
import { expect, test, vi } from 'vitest';
import { plain } from '../terminal.ts';
import { renderEvent, renderOtel, renderSearch } from './render-insights.ts';
import { renderPeople } from './render-people.ts';
import { renderUsage } from './render-usage.ts';
import { since } from '../program/parse-time.ts';

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

test('usage is summed by channel or day, with list price and billed amount', () => {
  const answer = { usage: [rollup, { ...rollup, principal: null, identity: 'x', cost_usd: 0.5 }], aux: [], truncated: true };
  expect(renderUsage(answer, 'channel', plain).split('\n').slice(0, 3)).toEqual([
    '  CHANNEL  TURNS  INPUT  OUTPUT  LIST PRICE  BILLED',
    '  compat       4   4.0k      40       $2.00  <$0.01',
    '  all          4   4.0k      40       $2.00  <$0.01',
  ]);
  const byDay = renderUsage(answer, 'day', plain);
  expect(byDay).toContain('2026-03-04');
  expect(byDay).toContain('2 turns have no known price');
  expect(byDay).toContain('Older hours were left out');
  const call = { bucket_hour: 0, surface: 'compat', feature: 'tts', provider: 'p', model: 'm', units: 'characters' } as const;
  const one = { ...call, calls: 1, quantity: 9, cost_usd: 0.2, billed_cost_usd: 0.1, unpriced_calls: 0 };
  expect(renderUsage({ usage: [rollup], aux: [one, { ...one, unpriced_calls: 1 }], truncated: false }, 'day', plain)).toContain(
    [
      '  Beside turns: 2 side calls, $0.40, of which billed $0.20.',
      '  Together: $1.90, of which billed $0.20.',
      '  1 side call has no known price, and is not included.',
      '  1 turn has no known price, and is not included.',
    ].join('\n'),
  );
  const free = { ...one, cost_usd: 0, billed_cost_usd: 0 };
  expect(renderUsage({ usage: [], aux: [free], truncated: false }, 'day', plain)).toMatch(/Beside turns: 1 side call\.$/);
  expect(renderUsage({ usage: [], aux: [], truncated: false }, 'day', plain)).toBe('Nothing was used in this period.');
});

test('usage by person has a row for each person with all handles, and side calls below', () => {
  const { bucket_hour: _hour, surface: _surface, identity: _identity, ...sums } = rollup;
  const handles = [
    { surface: 'compat', identity: 'anna' },
    { surface: 'messenger', identity: '4711' },
  ];
  const people = [
    { ...sums, name: 'Anna', handles },
    {
      ...sums,
      principal: null,
      name: null,
      handles: [{ surface: 'issues', identity: 'x\u001b[2J' }],
      cost_usd: 0.5,
      billed_cost_usd: 0,
    },
  ];
  const call = { surface: 'compat', feature: 'tts', provider: 'p', model: 'm', units: 'characters', unpriced_calls: 0 };
  const side = [{ ...call, calls: 3, quantity: 9, cost_usd: 0.2, billed_cost_usd: 0.1 }];
  const shown = renderPeople({ since: 0, people, side, links_known: false, truncated: true }, plain);
  expect(shown.split('\n')).toEqual([
    '  WHO                    TURNS  INPUT  OUTPUT  LIST PRICE  BILLED  HANDLES',
    '  Anna                       2   2.0k      20       $1.50  <$0.01  compat, messenger:4711',
    '  x\\x1b[2J (not linked)      2   2.0k      20       $0.50       -  issues:x\\x1b[2J',
    '  all                        4   4.0k      40       $2.00  <$0.01',
    '  Beside turns: 3 side calls, $0.20, of which billed $0.10.',
    '  Together: $2.20, of which billed $0.10.',
    '  2 turns have no known price, and are not included.',
    '  The core is away: handles that were linked later are shown apart.',
    '  Not everybody is shown. Ask for a shorter time with --since.',
  ]);
  expect(renderPeople({ since: 0, people: [], side: [], links_known: true, truncated: false }, plain)).toContain(
    'Nothing was used',
  );
});

test('the state of the OpenTelemetry export is shown with advice', () => {
  const view = { state: 'on', error: null, exported: 7, failed: 0, dropped: 1, waiting: 2 } as const;
  const settings = { tracesUrl: 'http://h/v1/traces', metricsUrl: null, metricsEveryMs: 1 };
  expect(renderOtel(view, settings, plain)).toContain('7 spans sent, 2 wait, 0 refused, 1 dropped');
  expect(renderOtel({ ...view, state: 'missing', error: 'no network' }, settings, plain)).toMatch(
    /svc otel install[\s\S]*no network/,
  );
  expect(renderOtel({ ...view, state: 'off' }, settings, plain)).toContain('./svc up');
  expect(renderOtel({ ...view, state: 'off' }, { ...settings, tracesUrl: null }, plain)).toContain('OTEL_EXPORTER_OTLP_ENDPOINT');
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

test('an event is shown on one line, with control characters escaped', () => {
  const shown = renderEvent(event as unknown as TelemetryEvent, plain);
  expect(shown).toContain('inbound      compat anna k  a \\x1b[2Jb');
  expect(shown).not.toContain('\n');
  const payload = { what: 'x', reason: null, input_tokens: 7, scope: { surface: 'a' } };
  expect(renderEvent({ ...event, text: null, payload } as unknown as TelemetryEvent, plain)).toMatch(
    / {2}what=x input_tokens=7 scope=\{"surface":"a"\}$/,
  );
});

test('search results highlight the words', () => {
  const session = {
    conversation_key: 'k',
    title: 'My\u001b fox',
    surface: null,
    identity: null,
    principal: 'anna',
    active: false,
    event_id: 'e',
  };
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
  expect(shown).toMatch(/^ {2}\*My\\x1b fox\*\n {6}k\n/);
  expect(shown).toContain('anna, 2 hits');
  expect(shown).toContain('more than 2 hits');
  expect(shown).toContain('not searched yet');
});

test.each([
  ['30m', 1_000_000_000 - 1_800_000],
  ['2d', 1_000_000_000 - 172_800_000],
  ['2026-01-31', new Date(2026, 0, 31).getTime()],
  ['2026-01-31T12:30', new Date(2026, 0, 31, 12, 30).getTime()],
  ['2026-01-31T12:30Z', Date.UTC(2026, 0, 31, 12, 30)],
])('%s is parsed as a time', (text, time) => {
  expect(since(text, 1_000_000_000)).toBe(time);
});

test('a date begins at local midnight, like the days of usage', () => {
  vi.stubEnv('TZ', 'America/New_York');
  try {
    expect(since('2026-03-08')).toBe(Date.parse('2026-03-08T05:00Z'));
    expect(since('2026-03-09')).toBe(Date.parse('2026-03-09T04:00Z'));
  } finally {
    vi.unstubAllEnvs();
  }
});
