import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { printError } from './terminal.ts';

/**
 * What happens when our own output cannot be written. A service goes on when its terminal is closed or the disk of its
 * output is full: nobody reads it then, and many may use it. Elsewhere a reader that has seen enough (`svc logs | head`)
 * is no error, and anything else is reported.
 */
export function handleOutputFaults(command: string | undefined): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (command === 'up') return;
      if (error.code === 'EPIPE' || error.code === 'EIO') process.exit(exitCodes.ok);
      if (stream === process.stdout) printError(`svc: the output could not be written: ${error.message}`);
      process.exit(exitCodes.failed);
    });
  }
}
