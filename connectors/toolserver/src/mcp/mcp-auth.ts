import type { AuthInfo } from '@modelcontextprotocol/server';
import type { Caller } from '../oauth/check-token.ts';

/** What a request brings beside the protocol. */
export type RequestScope = {
  caller: Caller;
  requestId: string;
  /** Called once the answer is with the client. */
  onSent(act: () => void): void;
  /** Aborts when the connection ends. */
  left: AbortSignal;
  /** The request is kept in memory until this is over, also when its client has left. */
  keeps(work: Promise<unknown>): void;
};

/** Travels with the request through the SDK, which hands it on unread. */
export const toAuthInfo = (scope: RequestScope): AuthInfo => ({ ...scope.caller.auth, extra: { scope } });

/** @throws Error when a request came past the check of tokens, which is a fault of ours. */
export function scopeOf(auth: AuthInfo | undefined): RequestScope {
  const scope = auth?.extra?.['scope'];
  if (scope === undefined) throw new Error('A request has no caller.');
  return scope as RequestScope;
}
