import { describe, expect, test } from 'vitest';
import { takeLongCode as take } from './long-code.ts';

const takeLongCode = (text: string) => take(text, 3500);
const lines = (count: number) => 'x = 1\n'.repeat(count);

describe('takeLongCode()', () => {
  test.each([
    ['```py\n', '```', 'code-1.py'],
    ['~~~~ Rust title\n', '~~~~', 'code-1.rs'],
    ['````\n```\n', '```\n````', 'code-1.txt'],
    ['```c++\n', '', 'code-1.cpp'],
  ])('moves long code after %j to a file', (opener, closer, name) => {
    const { text, files } = takeLongCode(`Before.\n${opener}${lines(1000)}${closer}`);
    expect([text, files.map((file) => file.name)]).toEqual([`Before.\n📎 ${name}`, [name]]);
    expect(Buffer.from(files[0]!.data!).toString()).toContain(lines(1000));
  });

  test('leaves the rest of the text and short code in place', () => {
    const { text, files } = takeLongCode(
      `A\n\`\`\`\nshort\n\`\`\`\nB\n\`\`\`js\n${lines(700)}\`\`\`\nC\n\`\`\`js\n${lines(800)}\`\`\`\nD`,
    );
    expect(text).toBe('A\n```\nshort\n```\nB\n📎 code-1.js\nC\n📎 code-2.js\nD');
    expect(files.map(({ data }) => data?.length)).toEqual([4200, 4800]);
  });

  test('takes linear time for hostile text', () => {
    for (const hostile of ['```\n', '~~~', '```a', '`', '~~~~~~~~\n\n', '```\n```` \n']) {
      const from = performance.now();
      takeLongCode(hostile.repeat(60_000 / hostile.length));
      expect(performance.now() - from).toBeLessThan(5000);
    }
  });
});
