import type { Exchange } from '@svc/connector-kit';
import { onceOver } from '@svc/connector-kit/http/exchange.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Caller } from '../oauth/check-token.ts';

/** Ends a stream when the token that opened it is over: it is no longer good than that, and the client opens another with its next one. */
export function endWithToken(exchange: Exchange, { expiresAt }: Caller, clock: Pick<Clock, 'now' | 'after'>): void {
  const forget = clock.after(Math.max(0, expiresAt - clock.now()), () => exchange.res.destroy());
  onceOver(exchange, forget);
}
