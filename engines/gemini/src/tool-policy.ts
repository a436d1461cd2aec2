import type { ToolPolicy } from '@svc/contract/trust.ts';

/** The program's own tools that a turn is offered; `null` is all of them. */
export const ownTools: Record<ToolPolicy, readonly string[] | null> = {
  none: [],
  read: ['read_file', 'list_directory', 'glob', 'grep_search'],
  full: null,
};

/**
 * Rules for the program's policy engine, beside the list of its own tools: what they deny is neither offered nor run.
 * Null where everything is allowed. Of the tool servers only those that the turn may use are known to the program.
 */
export function policyRules(policy: ToolPolicy): string | null {
  const tools = ownTools[policy];
  if (tools === null) return null;
  const allowed =
    policy === 'none' ? [] : [rule({ toolName: tools }, 'allow', 900), rule({ toolName: '*', mcpName: '*' }, 'allow', 900)];
  return [...allowed, rule({ toolName: '*' }, 'deny', 100)].join('\n');
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
