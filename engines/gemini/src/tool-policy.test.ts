import { expect, test } from 'vitest';
import { policyRules } from './tool-policy.ts';

/** The arguments of a call as the program serializes them for its rules. */
const written = (args: Record<string, unknown>): string => {
  const fields = Object.keys(args).toSorted();
  return `{${fields.map((name) => `\0${JSON.stringify(name)}:${JSON.stringify(args[name])}\0`).join(',')}}`;
};
const rules = new Map(
  [...(policyRules('read') ?? '').matchAll(/toolName = "(\w+)"\nargsPattern = (".*")/g)].map(([, tool = '', source = '""']) => [
    tool,
    new RegExp(JSON.parse(source) as string),
  ]),
);
const isAllowed = (tool: string, args: Record<string, unknown>) => rules.get(tool)?.test(written(args)) ?? false;

test.each([
  ['read_file', { file_path: 'a "quoted" name.txt', start_line: 1 }],
  ['list_directory', { dir_path: '.', ignore: ['*.log'], wait_for_previous: true }],
  ['glob', { pattern: '**/*.{ts,tsx}', dir_path: 'src', case_sensitive: false, respect_git_ignore: true }],
  ['grep_search', { pattern: String.raw`^\s+"x\.y" -v`, include_pattern: '*.ts', total_max_matches: 5 }],
] as const)('%s may be called with %j', (tool, args) => {
  expect(isAllowed(tool, args)).toBe(true);
});

test.each([
  ['glob', { pattern: '../*' }],
  ['glob', { pattern: ['../*'] }],
  ['glob', { pattern: null }],
  ['glob', { pattern: '*', paths: ['/etc'] }],
  ['glob', { pattern: '../*', dir_path: 'x\u2028/..' }],
  ['glob', { dir_path: '","pattern":"*"', pattern: '/etc/*' }],
  ['glob', { dir_path: '\0"pattern":"*"\0', pattern: '/etc/*' }],
  ['grep_search', { pattern: '-f/etc/passwd' }],
  ['grep_search', { pattern: 'x', include_pattern: '/etc/*' }],
  ['read_many_files', { include: ['*'] }],
] as const)('%s may not be called with %j', (tool, args) => {
  expect(isAllowed(tool, args)).toBe(false);
});

test('the expressions pass the safety check of the program', () => {
  for (const { source } of rules.values()) {
    expect(source.length).toBeLessThan(2048);
    expect(source).not.toMatch(/\([^)]*[*+?{].*\)[*+?{]/);
  }
  expect([...rules.keys()]).toEqual(['read_file', 'list_directory', 'glob', 'grep_search']);
});
