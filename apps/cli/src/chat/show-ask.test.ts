import { expect, test } from 'vitest';
import { answerCommand, showAskForCommand } from './show-ask.ts';

const options = [
  { id: 'yes', label: 'Yes' },
  { id: 'no', label: 'No,\r\nthanks' },
];
const shown = (text: string): string => {
  const lines: string[] = [];
  const add = (line: string) => void lines.push(line);
  showAskForCommand('shell:anna:work')({ ask: add, note: add }, { id: 'a', text, options, for: 'p', expires_at: 0 });
  return lines.join('\n');
};

test('a question for a command is shown in full on one line', () => {
  expect(shown('Run this?\n\n  rm -r build\n')).toBe(
    '? The assistant asks: Run this? ⏎ rm -r build (1. Yes, 2. No, ⏎ thanks) Answer by number: ./svc chat --session=work 1',
  );
  const long = `${'x'.repeat(4000)}\u2028\r\nend`;
  expect(shown(long)).toContain(`${'x'.repeat(4000)} ⏎ end`);
  expect(shown(long)).not.toMatch(/[\r\n\u2028]/);
});

test('the command names the conversation unless it is the default one', () => {
  expect(answerCommand('shell:anna:default')).toBe('./svc chat 1');
  expect(answerCommand('shell:anna:-x')).toBe('./svc chat --session=-x 1');
});
