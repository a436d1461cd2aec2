import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Logins } from '../login/logins.ts';

/** How often the login behind a long answer is checked. */
const everyMs = 15_000;

type Options = { logins: Pick<Logins, 'find'>; clock: Pick<Clock, 'every'>; headers: IncomingHttpHeaders; stopping: AbortSignal };

/** Aborts a stream when its person has signed out, or this process stops. */
export function watchLogin({ logins, clock, headers, stopping }: Options): { signal: AbortSignal; end: () => void } {
  const over = new AbortController();
  const cancel = clock.every(everyMs, () => {
    logins.find(headers).then(
      (login) => login === null && over.abort(),
      () => undefined, // the core did not answer: checked again at the next interval
    );
  });
  return { signal: AbortSignal.any([over.signal, stopping]), end: cancel };
}
