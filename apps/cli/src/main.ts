import { findOwnModules } from '@svc/service-kit/own-imports.ts';

findOwnModules();
const [{ handleOutputFaults }, { runCommandLine }] = await Promise.all([
  import('./output-faults.ts'),
  import('./program/run-command-line.ts'),
]);
handleOutputFaults(process.argv[2]);

try {
  process.exitCode = await runCommandLine(process.argv.slice(2));
} catch (error) {
  const [{ renderCliError, toCliError }, { createStyle, printError, widthOf }] = await Promise.all([
    import('./cli-error.ts'),
    import('./terminal.ts'),
  ]);
  const known = toCliError(error);
  printError(renderCliError(known, createStyle(process.stderr), widthOf(process.stderr)));
  process.exitCode = known.exitCode;
}
