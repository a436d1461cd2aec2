import { renderCliError, toCliError } from './cli-error.ts';
import { runProgram } from './program.ts';
import { createStyle, printError } from './terminal.ts';

// A reader that has seen enough (`svc logs | head`) is no error, and no reason for a running service to end.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  if (process.argv[2] !== 'up') process.exit(0);
});

try {
  process.exitCode = await runProgram(process.argv.slice(2));
} catch (error) {
  const known = toCliError(error);
  printError(renderCliError(known, createStyle(process.stderr)));
  process.exitCode = known.exitCode;
}
