import { wrap, type Style } from '../terminal.ts';

/** One examined fact. `fix` is what to type or do; problems always have one. */
export type Finding = { name: string; state: 'ok' | 'problem' | 'note' | 'skipped'; text: string; fix: string | null };

export const fine = (name: string, text: string): Finding => ({ name, state: 'ok', text, fix: null });
export const problem = (name: string, text: string, fix: string): Finding => ({ name, state: 'problem', text, fix });
export const note = (name: string, text: string, fix: string | null = null): Finding => ({ name, state: 'note', text, fix });
export const skipped = (name: string, text: string): Finding => ({ name, state: 'skipped', text, fix: null });

const indent = ' '.repeat(16);

/** A finding for a person, in lines of `width` columns. A fix with a path stays on one line, so that it can be copied into a shell. */
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
