import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { PricingReport, SpendReport } from '@svc/contract/cost.ts';
import { startCliCore, type CliCore } from '@svc/testing/run-svc.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';

let core: CliCore;
beforeAll(async () => void (core = await startCliCore()));
afterAll(() => core.close());

const fileOf = (name: string) => path.join(core.folder, name);

test('svc spend shows what was spent with its limits, and sets and removes a budget', async () => {
  expect((await core.svc(['spend'])).out).toMatch(
    /^\$0\.00 this month, from \d{4}-\d\d-\d\d on; .*\n {2}All together: no limit\n/,
  );
  expect(await core.svc(['spend', 'budget', 'compat', 'laptop', '$0.50'])).toMatchObject({
    code: 0,
    out: 'laptop of compat may spend $0.50 a month.\n',
  });
  expect((await core.svc(['spend'])).out).toMatch(/SENDER +THIS MONTH +BUDGET\n +compat laptop +\$0\.00 +\$0\.50\n/);
  await core.svc(['spend', 'budget', 'compat', 'laptop', 'none']);
  const { budgets } = JSON.parse((await core.svc(['spend', '--json'])).out) as SpendReport;
  expect(budgets).toEqual([]);
  expect((await core.svc(['spend', 'budget', 'No Channel', 'x', '1'])).code).toBe(1);
  expect((await core.svc(['spend', 'budget', 'compat', 'x', '-1'])).code).toBe(2);
});

test('svc price sets a price at once, keeps the rest of the file, and removes the price again', async () => {
  writeFileSync(fileOf('pricing.json'), '{ "tts": { "mine": 1 }, "models": { "qwen3": { "out": 1 } } }');
  expect((await core.svc(['price', 'set', 'qwen3', '--in', '0.1', '--cache-write-1h', '2'])).out).toMatch(
    /qwen3 +0\.1 +1 +- +- +2 +yours/,
  );
  expect(JSON.parse(readFileSync(fileOf('pricing.json'), 'utf8'))).toEqual({
    tts: { mine: 1 },
    models: { qwen3: { in: 0.1, out: 1, cache_write_1h: 2 } },
  });
  const { models } = JSON.parse((await core.svc(['price', '--json'])).out) as PricingReport;
  expect(models['qwen3']).toEqual({ in: 0.1, out: 1, cache_write_1h: 2 });
  expect(await core.svc(['price', 'remove', 'qwen3'])).toMatchObject({
    code: 0,
    out: expect.stringContaining('Your price of qwen3 is removed.'),
  });
  expect(await core.svc(['price', 'remove', 'qwen3'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('have set no price'),
  });
  expect((await core.svc(['price', 'set', 'qwen3'])).code).toBe(2);
});

test('a price that the core refuses leaves the price file unchanged', async () => {
  const before = '{ "models": { "half": {} }, "unknown": 1 }';
  writeFileSync(fileOf('pricing.json'), before);
  expect(await core.svc(['price', 'set', 'other', '--in', '1', '--out', '1'])).toMatchObject({ code: 1 });
  expect(readFileSync(fileOf('pricing.json'), 'utf8')).toBe(before);
  writeFileSync(fileOf('pricing.json'), '[');
  expect((await core.svc(['price', 'set', 'other', '--in', '1'])).err).toContain('the price file is faulty');
  expect((await core.svc(['price', 'reload'])).err).toContain('the prices stay as they were');
});

test('secrets are listed by name, set from a pipe and removed, and no value is printed', async () => {
  const value = 'line one\nghp_0123456789';
  const set = await core.svc(['secret', 'set', 'GITHUB_TOKEN'], { input: `${value}\n` });
  expect(set).toMatchObject({ code: 0, out: 'GITHUB_TOKEN is kept in the secrets file, which only you can read.\n' });
  expect(JSON.parse(readFileSync(fileOf('secrets.json'), 'utf8'))).toEqual({ GITHUB_TOKEN: value });
  expect(statSync(fileOf('secrets.json')).mode & 0o777).toBe(0o600);
  const listed = await core.svc(['secret', '--json']);
  expect(JSON.parse(listed.out)).toMatchObject({ names: ['GITHUB_TOKEN'] });
  const removed = await core.svc(['secret', 'remove', 'GITHUB_TOKEN']);
  for (const { out, err } of [set, listed, removed]) expect(out + err).not.toContain('0123456789');
  expect(await core.svc(['secret', 'remove', 'GITHUB_TOKEN'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('Run: ./svc secret'),
  });
});

test.each([
  [['secret', 'set', 'A_TOKEN'], '', 'no value was given'],
  [['secret', 'set', 'no name'], 'x', 'is not a valid name for a secret'],
  [['secret', 'set', 'A_TOKEN'], 'x'.repeat(65_537), 'the value is too long'],
])('svc %j fails with the reason', async (args, input, why) => {
  const { code, err } = await core.svc(args, { input });
  expect([code, err]).toEqual([1, expect.stringContaining(why)]);
});
