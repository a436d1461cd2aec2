import { expect, test } from 'vitest';
import { plain } from '../terminal.ts';
import type { InstanceLog } from './connector-api.ts';
import { linesAfter, showLogs } from './show-logs.ts';

const line = (at: number, text: string): InstanceLog => ({ at, text, stream: 'stdout' });
const [a, b, c, d] = [line(1, 'a'), line(2, 'b'), line(2, 'b'), line(3, 'd')];

test.each([
  ['nothing came', [a, b], [a, b], []],
  ['there was nothing before', [], [a], [a]],
  ['one came', [a, b], [a, b, d], [d]],
  ['one that is equal came', [a, b], [a, b, c], [c]],
  ['the first ones were dropped', [a, b], [b, d], [d]],
  ['all of them were dropped', [a], [d], [d]],
])('finds the new lines when %s', (_, before, now, fresh) => {
  expect(linesAfter(before, now)).toEqual(fresh);
});

test('shows the last lines, then follows new ones', async () => {
  const logs = [[a, b], [a, b, d], [d]];
  const shown: string[] = [];
  let looks = 0;
  const api = { logs: async () => logs[looks++] ?? [] };
  const mask = { lines: async (lines: readonly string[]) => lines.map((text) => text.toUpperCase()) };
  const deps = { api, mask, print: (text: string) => void shown.push(text), style: plain, pause: async () => looks < 3 };
  await showLogs(deps, { id: 'x', lines: 1, follow: true, json: true });
  expect(shown).toEqual(['B', 'D']);
});
