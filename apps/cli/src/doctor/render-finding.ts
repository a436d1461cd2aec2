import { wrap, type Style } from '../terminal.ts';
import type { Finding } from './finding.ts';

const indent = ' '.repeat(16);

/** A finding for a person, in lines of `width` columns. A fix with a path in it stays on one line: it is copied into a shell. */
export function renderFinding({ name, state, text, fix }: Finding, style: Style, width: number): string {
  const mark = { ok: style.green('✓'), problem: style.red('✗'), note: style.yellow('!'), skipped: style.dim('-') }[state];
  const paint = state === 'skipped' ? style.dim : (line: string) => line;
  const [first = '', ...others] = wrap(text, width - indent.length).map(paint);
  const lines = [`${mark} ${name.padEnd(14)}${first}`, ...others.map((line) => indent + line)];
  return [...lines, ...(fix === null ? [] : fixLines(fix, style, width))].join('\n');
}

function fixLines(fix: string, style: Style, width: number): string[] {
  const label = 'fix: ';
  const [first = '', ...others] = hasPath(fix) ? [fix] : wrap(fix, width - indent.length - label.length);
  return [
    `${indent}${style.bold(label.trim())} ${first}`,
    ...others.map((line) => `${indent}${' '.repeat(label.length)}${line}`),
  ];
}

const hasPath = (fix: string): boolean => /(?:^|\s)['"]?[/~]/.test(fix);
