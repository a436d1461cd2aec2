import { renderCliError, toCliError } from './cli-error.ts';
import { handleOutputFaults } from './output-faults.ts';
import { runCommandLine } from './program/run-command-line.ts';
import { createStyle, printError, widthOf } from './terminal.ts';

handleOutputFaults(process.argv[2]);

try {
  process.exitCode = await runCommandLine(process.argv.slice(2));
} catch (error) {
  const known = toCliError(error);
  printError(renderCliError(known, createStyle(process.stderr), widthOf(process.stderr)));
  process.exitCode = known.exitCode;
}
