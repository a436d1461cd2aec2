import { errorText } from '@svc/service-kit/service-error.ts';
import type { StartContext } from './connector.ts';

/** Calls a function of a connector. What it throws, or rejects with, is logged and ends nothing. */
export type GuardedCall = (call: () => unknown) => void;

/** `what`: the name of the function in the log. */
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
