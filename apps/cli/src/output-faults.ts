import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { printError } from './terminal.ts';

/**
 * Handles our own output when it cannot be written. A service continues when its terminal is closed or the disk of its
 * output is full: nobody reads it then, but many may use the service. In a command, a reader that has seen enough (`svc logs | head`)
 * is not an error, and anything else is reported.
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
