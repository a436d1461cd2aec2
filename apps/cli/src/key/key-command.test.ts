import { expect, test } from 'vitest';
import type { ApiKey } from '@svc/contract/api-key.ts';
import { plain } from '../terminal.ts';
import { parseBudget } from './key-command.ts';
import { renderCreated, renderKeys } from './render-keys.ts';

test.each([
  ['20', 20],
  ['$20', 20],
  ['0.50/month', 0.5],
  ['0', 0],
])('parses the budget %s as %d USD', (text, usd) => expect(parseBudget(text)).toBe(usd));

test.each(['', '-1', '1e9', 'NaN', '20/day', '1,5', '99999999', '20 USD'])('rejects %j as a budget', (text) =>
  expect(() => parseBudget(text)).toThrow(/USD for a month/),
);

test('a list of keys shows only their endings, without control characters', () => {
  const key: ApiKey = {
    name: 'ci\u001b[2J',
    ending: 'wxyz',
    for: null,
    connector: 'compat',
    budget: { month_usd: 1, spent_usd: 2 },
  };
  const text = renderKeys({ keys: [key], connectors: [] }, plain);
  expect(text).toContain('…wxyz');
  expect(text).toContain('nobody: it is denied');
  expect(text).toContain('$2.00 of $1.00 this month');
  expect(text).not.toContain('\u001b');
});

test('a created key is shown on its own line', () => {
  const made = {
    name: 'ci',
    key: 'sk-svc-x',
    for: 'anna',
    connector: 'compat',
    url: 'http://127.0.0.1:1',
    budget_usd: 5,
    effective: true,
  };
  expect(renderCreated(made, plain).split('\n')).toEqual([
    'The key "ci" acts for "anna", and may spend $5.00 a month. It works from now on, and is shown this once:',
    '',
    '  sk-svc-x',
    '',
    '  Base URL: http://127.0.0.1:1/v1',
  ]);
});
