import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { createRedactor } from '@svc/service-kit/redaction/redactor.ts';
import { sampleText } from './fixtures/sample-text.ts';
import { toNativePattern } from '@svc/service-kit/redaction/rules/native-pattern.ts';
import { readVendorRules, type VendorRule } from '@svc/service-kit/redaction/rules/vendor-rules.ts';

const perRule = process.env['TEST_DEEP'] === '1' ? 10 : 2;

/** The same numbers in every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) & 0x7fffffff) / 0x7fffffff;
}

function samplesOf({ pattern, triggers, find }: VendorRule, random: () => number): string[] {
  const words = triggers.flatMap((trigger) => trigger.words);
  const samples: string[] = [];
  for (let tries = 0; tries < 40 && samples.length < perRule; tries++) {
    const text = sampleText(pattern, random);
    const sample = words.some((word) => text.toLowerCase().includes(word)) ? text : `${words[0] ?? ''}_token = ${text}`;
    if (find(sample).length > 0) samples.push(sample);
  }
  return samples;
}

test('masks at least 98 % of what the vendored rules find, alone and within other text', { timeout: 120_000 }, () => {
  const { rules, generic } = readVendorRules();
  const redactor = createRedactor([]);
  const random = numbers(7);
  const missed: string[] = [];
  let count = 0;
  for (const rule of [...rules, generic]) {
    for (const sample of samplesOf(rule, random)) {
      const found = rule.find(sample)[0];
      for (const text of [sample, `{"a": 1}\n${sample}\n`]) {
        count++;
        if (found !== undefined && redactor.text(text).includes(sample.slice(found.from, found.to))) missed.push(rule.id);
      }
    }
  }
  expect(count).toBeGreaterThan(rules.length * 3);
  expect(missed.length / count, missed.join(' ')).toBeLessThanOrEqual(0.02);
});

test('translated patterns match as in the regular expression engine they were written for', () => {
  const { rules, generic } = readVendorRules();
  const random = numbers(11);
  let count = 0;
  for (const { id, pattern } of [...rules, generic]) {
    const theirs = RE2JS.compile(pattern);
    const ours = new RegExp(toNativePattern(pattern));
    for (let i = 0; i < perRule * 5; i++) {
      const text = `\n${sampleText(pattern, random)}${i % 2 === 0 ? '\n' : '!'}`;
      const matcher = theirs.matcher(text);
      const expected = matcher.find() ? [matcher.start(), matcher.end()] : null;
      const match = ours.exec(text);
      expect(match === null ? null : [match.index, match.index + match[0].length], `${id}: ${text}`).toEqual(expected);
      count += expected === null ? 0 : 1;
    }
  }
  expect(count).toBeGreaterThan(rules.length * 5);
});
