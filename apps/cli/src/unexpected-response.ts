import { CliError } from './cli-error.ts';

/** True for an answer that is not JSON: no process of ours gives one. */
export const isUnexpectedResponse = (error: unknown): boolean => error instanceof Error && error.cause instanceof SyntaxError;

/** Another program has the port of one of our processes. The doctor says which. */
export const unexpectedResponse = (url: string, cause: unknown): CliError =>
  new CliError('another program answers in place of the service.', {
    why: `What is at ${new URL(url).origin} is not ours.`,
    run: './svc doctor',
    cause,
  });
