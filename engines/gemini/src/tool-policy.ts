import type { ToolPolicy } from '@svc/contract/trust.ts';
import { plainPattern } from '@svc/engine-kit/path-policy.ts';

/** Of JSON: a value of any kind, and a text that no program can take for an option. */
const any = String.raw`[^\x00]+`;
const noOption = String.raw`"[^-][^\x00]*`;

/**
 * The tools for reading, each with all its fields and an expression for what each may hold. Paths the program checks itself;
 * patterns it does not. A tool or a field that a new version brings is refused until it stands here.
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

/** The program's own tools that a turn is offered; `null` is all of them. */
export const ownTools: Record<ToolPolicy, readonly string[] | null> = {
  none: [],
  read: Object.keys(readingTools),
  full: null,
};

/**
 * Rules for the program's policy engine, beside the list of its own tools: what they deny is neither offered nor run.
 * Null where everything is allowed. Of the tool servers only those that the turn may use are known to the program.
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
 * An expression for the arguments of a call as the program writes them down for its rules: JSON with sorted fields, a NUL
 * before and after each.
 */
function argsOf(fields: Record<string, string>): string {
  const common = { ...fields, wait_for_previous: any };
  const parts = Object.entries(common)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `(?:\\x00"${name}":${value}\\x00,?|)`);
  return `^\\{${parts.join('')}\\}$`;
}

/** JSON's strings and arrays are TOML's too. */
const rule = (fields: object, decision: 'allow' | 'deny', priority: number): string =>
  [
    '[[rule]]',
    ...Object.entries({ ...fields, decision, priority }).map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
    '',
  ].join('\n');

/**
 * How the program is started for a policy. It never takes settings from the working folder, which others may have
 * written to; with `--skip-trust` it still takes tool servers and, from the folder's GEMINI.md, context. Without trust
 * it takes nothing.
 */
export const policyArgs = (policy: ToolPolicy, rulesFile: string): readonly string[] => {
  // Twice: what the machine's own administrator set up may switch one of them off.
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
