import { CoreError } from './core-error.ts';

/** What the link itself has to say to a call, in words for the one who asked. */
export const linkFaults = {
  stopping: (mayHaveRun: boolean) => new CoreError('unavailable', 'This connector is stopping.', { mayHaveRun }),
  unreachable: () =>
    new CoreError('unavailable', 'The core cannot be reached. Check that the service is running, then try again.', {
      mayHaveRun: false,
    }),
  wentAway: () =>
    new CoreError('unavailable', 'The core went away during this turn. It may have run; look before you repeat it.', {
      mayHaveRun: true,
    }),
  overdue: () => new CoreError('unavailable', 'The core did not answer in time.', { mayHaveRun: true }),
  tooLong: () =>
    new CoreError('too_large', 'This message is too long for the core. Shorten it or its transcript.', { mayHaveRun: false }),
  tooMany: (count: number) =>
    new CoreError('queue_full', `${count} turns of this connector are open already. Try again in a moment.`, {
      mayHaveRun: false,
      details: { retry_after_s: 1 },
    }),
};
