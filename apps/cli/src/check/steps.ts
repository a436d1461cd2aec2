import { existsSync } from 'node:fs';
import path from 'node:path';
import { checkLocks } from './check-lock.ts';
import type { Step } from './run-step.ts';

const architectureTest = 'test/architecture.test.ts';
/** What runs in browsers has their types, and JSX. */
const webTypes = 'tsconfig.web.json';
const circlesTest = 'test/import-circles.test.ts';

/** Everything `svc check` looks at. The slow ones first: they begin while the others run. */
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
  if (!existsSync(path.join(root, architectureTest))) return steps;
  const args = ['run', '--reporter=dot', architectureTest, circlesTest];
  return [
    ...steps,
    {
      name: 'architecture',
      fix: `./svc test ${architectureTest} ${circlesTest}`,
      run: { program: tool('vitest/vitest.mjs'), args },
    },
  ];
}

/** What `svc check --fix` does before it checks, one after the other: the linter first, because it moves text. */
export function fixSteps(root: string): Step[] {
  const tool = (...parts: string[]) => path.join(root, 'node_modules', ...parts);
  return [
    { name: 'fix lint', fix: '', run: { program: tool('oxlint/bin/oxlint'), args: ['--fix', '--silent'] } },
    { name: 'format', fix: '', run: { program: tool('oxfmt/bin/oxfmt'), args: ['--write'] } },
  ];
}
