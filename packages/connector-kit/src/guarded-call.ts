import { errorText } from '@svc/service-kit/service-error.ts';
import type { StartContext } from './connector.ts';

/** Calls what a connector has given us. What it throws, also in a promise that nobody waits for, is logged and ends nothing. */
export type GuardedCall = (call: () => unknown) => void;

/** `what`: what is called, as the log names it. */
export function createGuardedCall(log: StartContext['log'], what: string): GuardedCall {
  const complain = (error: unknown) => log('error', `${what} threw`, { error: errorText(error) });
  return (call) => {
    try {
      const given = call();
      if (given instanceof Promise) given.catch(complain);
    } catch (error) {
      complain(error);
    }
  };
}
