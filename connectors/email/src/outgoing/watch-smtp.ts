import { errorText, ServiceError, type Clock } from '@svc/connector-kit';

/** Whether the server that sends serves us. */
export type SmtpWatch = {
  /** Why nothing is sent at the moment; null while all is well. */
  problem(): string | null;
  /** What a sending has ended with: a fault of the server is a problem until it lets us in again; what it says to one mail is none. */
  ended(error?: unknown): void;
};

type Options = { check(signal: AbortSignal): Promise<void>; clock: Clock; signal: AbortSignal };

/** How often the server is checked while there is a problem, ms: there may be no mail left that would show its end. */
const lookEveryMs = 30_000;

export function watchSmtp({ check, clock, signal }: Options): SmtpWatch {
  let problem: string | null = null;
  let isWaiting = false;

  const look = async (): Promise<void> => {
    isWaiting = false;
    if (signal.aborted || problem === null) return;
    try {
      await check(signal);
      problem = null;
    } catch (error) {
      problem = errorText(error);
      again();
    }
  };
  function again(): void {
    if (isWaiting) return;
    isWaiting = true;
    clock.after(lookEveryMs, () => void look()); // it does not reject
  }

  return {
    problem: () => problem,
    ended(error) {
      if (error === undefined) problem = null;
      if (!(error instanceof ServiceError)) return;
      const isOfServer = error.details['fault'] !== undefined;
      problem = isOfServer ? error.message : null;
      if (isOfServer) again();
    },
  };
}
