import { lintSource } from '@secretlint/core';
import { creator } from '@secretlint/secretlint-rule-preset-recommend';
import { describe, expect, test } from 'vitest';
import { createRedactor } from '@svc/service-kit/redaction/redactor.ts';

const redactor = createRedactor([]);
const digits = 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0';

/** The places in a text that another detector takes for secrets. */
async function placesOf(content: string): Promise<string[]> {
  const result = await lintSource({
    source: { content, filePath: '/text.txt', ext: '.txt', contentType: 'text' },
    options: {
      config: { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator }] },
      noPhysicFilePath: true,
    },
  });
  return result.messages.map(({ range }) => content.slice(range[0], range[1]));
}

describe('secrets that another detector finds', () => {
  test.each([
    `aws_access_key_id = AKIAQ3EGRLZ7T5XN2BWP`,
    `AWS_SECRET_ACCESS_KEY = "wJalrXUtnFEMIzK7MDENGzbPxRfiCYzabcdeF123"`,
    `https://joe:s3cr3tPa55@files.acme.io/x`,
    `mongodb://app:myR3alPassw0rd@cluster0.acme.net:27017/db`,
    `postgresql://app:myR3alPassw0rd@db.acme.net:5432/db`,
    `mysql://app:myR3alPassw0rd@db.acme.net:3306/db`,
    `ghp_${digits.slice(0, 36)}`,
    `ghs_${digits.slice(0, 36)}`,
    `github_pat_11AAAAAAA0${'aB3d'.repeat(3)}_${'xY9z'.repeat(14)}abc`,
    `glpat-${digits.slice(0, 20)}`,
    `xoxb-23984754863-2348975623000-${digits.slice(0, 24)}`,
    `https://hooks.slack.com/services/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`,
    `sk_live_${digits.slice(0, 24)}`,
    `rk_test_${digits.slice(0, 24)}`,
    `shpat_${'a1b2c3d4'.repeat(4)}`,
    `npm_${digits.slice(0, 36)}`,
    `//registry.npmjs.org/:_authToken=npm_${digits.slice(0, 36)}`,
    `SG.${digits.slice(0, 22)}.${digits}abc`,
    `sk-ant-api03-${'aB3d-'.repeat(18)}abcAA`,
    `lin_api_${digits}`,
    `hf_${'abcdEFGH'.repeat(4)}ij`,
    `dckr_pat_${digits.slice(0, 27)}`,
    `gsk_${digits}${digits.slice(0, 12)}`,
    `-----BEGIN RSA PRIVATE KEY-----\n${`${digits}${digits.slice(0, 24)}\n`.repeat(12)}-----END RSA PRIVATE KEY-----\n`,
  ])('masks %.48s', async (text) => {
    const content = `before\n${text}\nafter\n`;
    const masked = redactor.text(content);
    expect(masked).not.toBe(content);
    for (const place of await placesOf(content)) expect(masked).not.toContain(place);
  });
});
