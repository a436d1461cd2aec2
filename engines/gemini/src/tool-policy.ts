import type { ToolPolicy } from '@svc/contract/trust.ts';
import { plainPattern } from '@svc/engine-kit/path-policy.ts';

/** JSON expressions: any value, and a text that no program can take for an option. */
const any = String.raw`[^\x00]+`;
const noOption = String.raw`"[^-][^\x00]*`;

/**
 * The reading tools, each with all its fields and an expression for their values. The program checks paths itself, but not patterns. A tool
 * or field of a new version is refused until it is listed here.
 */
const readingTools: Record<string, Record<string, string>> = {
  read_file: { file_path: any, start_line: any, end_line: any },
  list_directory: { dir_path: any, ignore: any, file_filtering_options: any },
  glob: { pattern: plainPattern, dir_path: any, case_sensitive: any, respect_git_ignore: any, respect_gemini_ignore: any },
  grep_search: {
    pattern: noOption,
    dir_path: any,
    include_pattern: plainPattern,
    exclude_pattern: any,
    names_only: any,
    max_matches_per_file: any,
    total_max_matches: any,
  },
};

/** The program's own tools that are offered to a turn; `null` means all. */
export const ownTools: Record<ToolPolicy, readonly string[] | null> = {
  none: [],
  read: Object.keys(readingTools),
  full: null,
};

/**
 * Rules for the program's policy engine, in addition to the list of its own tools: a denied tool is neither offered nor run. Null when
 * everything is allowed. The program knows only the tool servers that the turn may use.
 */
export function policyRules(policy: ToolPolicy): string | null {
  const tools = ownTools[policy];
  if (tools === null) return null;
  const reading = Object.entries(readingTools).map(([toolName, fields]) =>
    rule({ toolName, argsPattern: argsOf(fields) }, 'allow', 900),
  );
  const allowed = policy === 'none' ? [] : [...reading, rule({ toolName: '*', mcpName: '*' }, 'allow', 900)];
  return [...allowed, rule({ toolName: '*' }, 'deny', 100)].join('\n');
}

/**
 * An expression for a call's arguments in the form in which the program's rules see them: JSON with sorted fields, and a NUL before and
 * after each.
 */
function argsOf(fields: Record<string, string>): string {
  const common = { ...fields, wait_for_previous: any };
  const parts = Object.entries(common)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `(?:\\x00"${name}":${value}\\x00,?|)`);
  return `^\\{${parts.join('')}\\}$`;
}

/** JSON strings and arrays are valid TOML too. */
const rule = (fields: object, decision: 'allow' | 'deny', priority: number): string =>
  [
    '[[rule]]',
    ...Object.entries({ ...fields, decision, priority }).map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
    '',
  ].join('\n');

/**
 * Arguments that start the program for a policy. The program never reads settings of the working folder, which others may have written.
 * With `--skip-trust` it still reads tool servers and, from the folder's GEMINI.md, context; without trust it reads nothing.
 */
export const policyArgs = (policy: ToolPolicy, rulesFile: string): readonly string[] => {
  // Both, because the machine's administrator may have switched one of them off.
  const rules = ['--policy', rulesFile, '--admin-policy', rulesFile];
  switch (policy) {
    case 'none':
      return rules;
    case 'read':
      return ['--skip-trust', ...rules];
    case 'full':
      return ['--skip-trust', '--approval-mode', 'yolo'];
  }
};
