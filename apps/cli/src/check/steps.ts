import { existsSync, globSync } from 'node:fs';
import path from 'node:path';
import { checkLocks } from './check-lock.ts';
import type { Step } from './run-step.ts';

/** Code for browsers is checked with browser types and JSX. */
const webTypes = 'tsconfig.web.json';

/** Every step of `svc check`. The slow ones come first, so that they run beside the others. */
export function checkSteps(root: string): Step[] {
  const tool = (...parts: string[]) => path.join(root, 'node_modules', ...parts);
  const steps: Step[] = [
    {
      name: 'lint',
      fix: './svc check --fix',
      run: {
        program: tool('oxlint/bin/oxlint'),
        args: ['--type-aware', '--deny-warnings', '--report-unused-disable-directives'],
      },
    },
    { name: 'types', fix: 'npx tsc --noEmit', run: { program: tool('typescript/bin/tsc'), args: ['--noEmit', '-p', root] } },
    ...(existsSync(path.join(root, webTypes))
      ? [
          {
            name: 'web types',
            fix: `npx tsc --noEmit -p ${webTypes}`,
            run: { program: tool('typescript/bin/tsc'), args: ['--noEmit', '-p', path.join(root, webTypes)] },
          },
        ]
      : []),
    {
      name: 'dead code',
      fix: 'npx knip --no-config-hints',
      run: { program: tool('knip/bin/knip.js'), args: ['--no-progress', '--no-config-hints'] },
    },
    { name: 'format', fix: './svc check --fix', run: { program: tool('oxfmt/bin/oxfmt'), args: ['--list-different'] } },
    { name: 'lock files', fix: 'npm install --ignore-scripts', run: () => checkLocks(root) },
  ];
  // Tests that only read sources, lists and pages, and start nothing: import rules, and lists that must be complete.
  const rules = globSync('test/*.test.ts', { cwd: root }).toSorted();
  if (rules.length === 0) return steps;
  // A name matches every file whose path ends in it.
  const args = ['run', '--reporter=dot', '--exclude={apps,packages,connectors,engines}/**', ...rules];
  const fix = './svc check, once the files named above are corrected';
  return [...steps, { name: 'rules', fix, run: { program: tool('vitest/vitest.mjs'), args } }];
}

/** The steps that `svc check --fix` runs first, one after the other. The linter comes first because it moves text. */
export function fixSteps(root: string): Step[] {
  const tool = (...parts: string[]) => path.join(root, 'node_modules', ...parts);
  return [
    { name: 'fix lint', fix: '', run: { program: tool('oxlint/bin/oxlint'), args: ['--fix', '--silent'] } },
    { name: 'format', fix: '', run: { program: tool('oxfmt/bin/oxfmt'), args: ['--write'] } },
  ];
}
