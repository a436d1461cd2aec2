import { errorText, ServiceError, type Clock } from '@svc/connector-kit';

/** Whether the SMTP server is usable. */
export type SmtpWatch = {
  /** Why nothing can be sent at the moment; null when all is well. */
  problem(): string | null;
  /** Reports how a sending ended. An error of the server is a problem until the server accepts us again; a refusal of one mail is not. */
  ended(error?: unknown): void;
};

type Options = { check(signal: AbortSignal): Promise<void>; clock: Clock; signal: AbortSignal };

/** Interval of checks while there is a problem, ms: there may be no further mail that would show its end. */
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
    clock.after(lookEveryMs, () => void look()); // it never rejects
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
