import { maxLinkLine, type LinkRequest } from '@svc/contract/link.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { StreamHandlers } from './connector.ts';
import type { CoreError } from './core-error.ts';

/** A call of the connector that the core has not answered. */
export type LinkCall = {
  request: LinkRequest;
  /** The request as text, until it is sent for the first time. */
  line: string | null;
  /** Of the line: what the call holds until it is answered. */
  chars: number;
  /** True while it is with the core; false again when the link broke under it. */
  sent: boolean;
  limitMs: number;
  handlers: StreamHandlers | null;
  /** Something of the turn has been shown over this link. */
  shown: boolean;
  /** What was shown over an earlier link is not withdrawn yet; the turn is shown from its beginning now. */
  stale: boolean;
  /** When the break began that this call waits out, by `clock.elapsed`; null before any. */
  brokenAt: number | null;
  settle: (answer: HandleResult | Identity) => void;
  fail: (error: CoreError) => void;
  cancelTimer: () => void;
};

/** Longest request, in characters: one that has to be sent again is longer by a word. */
export const maxRequestLine = maxLinkLine - ',"again":true'.length;

export const lineOf = ({ line, request }: LinkCall): string => line ?? JSON.stringify({ ...request, again: true });

/** A message that the core would know again. */
export const hasMessageId = ({ request }: LinkCall): boolean =>
  request.op === 'handle' && request.envelope.message_id !== undefined;
