import { availableParallelism } from 'node:os';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { runStep, type Step, type StepResult } from '../check/run-step.ts';
import { checkSteps, fixSteps } from '../check/steps.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print, type Style } from '../terminal.ts';

/** Checks the sources: one line for each step, and for a failed one its output and the command that helps. */
export async function check({ fix }: { fix?: boolean }): Promise<number> {
  const style = createStyle(process.stdout);
  if (fix === true) for (const step of fixSteps(repositoryRoot)) await runStep(step);
  const failed: { step: Step; result: StepResult }[] = [];
  await inParallel(checkSteps(repositoryRoot), Math.max(2, availableParallelism()), async (step) => {
    const result = await runStep(step);
    print(
      `${result.ok ? style.green('✓') : style.red('✗')} ${step.name.padEnd(14)}${style.dim(`${(result.ms / 1000).toFixed(1)} s`)}`,
    );
    if (!result.ok) failed.push({ step, result });
  });
  for (const { step, result } of failed) print(renderFailure(step, result, style));
  print(
    failed.length === 0
      ? style.green('\nAll checks passed.')
      : style.red(`\n${failed.length} failed: ${failed.map(({ step }) => step.name).join(', ')}.`),
  );
  return failed.length === 0 ? exitCodes.ok : exitCodes.failed;
}

const renderFailure = ({ name, fix }: Step, { output }: StepResult, style: Style): string =>
  `\n${style.bold(`${name}:`)}\n${output}\n${style.bold('Run:')} ${fix}`;

async function inParallel<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
