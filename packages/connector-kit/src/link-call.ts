import type { AmendResult } from '@svc/contract/amend.ts';
import type { Checkout } from '@svc/contract/checkout.ts';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { maxLinkLine, type LinkRequest, type LinkReply, type SessionAnswer } from '@svc/contract/link.ts';
import type { Answered } from '@svc/contract/ask.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { StreamHandlers } from './connector.ts';
import { CoreError } from './core-error.ts';

/** The answer of a successful call; its kind matches the request. */
export type LinkAnswer = HandleResult | Identity | Checkout | Answered | AmendResult | SessionAnswer;
type NotLast = 'frame' | 'accepted' | 'error' | 'seen';
type LastReply = Exclude<LinkReply, { [Field in NotLast]: Record<Field, unknown> }[NotLast]>;

export function answerOf(reply: LastReply): LinkAnswer {
  if ('result' in reply) return reply.result;
  if ('identity' in reply) return reply.identity;
  if ('answered' in reply) return reply.answered;
  if ('amended' in reply) return reply.amended;
  return 'checkout' in reply ? reply.checkout : reply.answer;
}

/** A call of the connector that the core has not answered. */
export type LinkCall = {
  request: LinkRequest;
  /** The request as text, until it is sent for the first time. */
  line: string | null;
  /** Length of the line, which counts towards the link's limit until the call is answered. */
  chars: number;
  /** True once it was sent to the core; false again after the link breaks. */
  sent: boolean;
  limitMs: number;
  handlers: StreamHandlers | null;
  /** Null once it was called, or when nobody wants to know. */
  onAccepted: ((turnId: string) => void) | null;
  /** Some progress of the turn has been shown over this link. */
  shown: boolean;
  /** Progress shown over an earlier link must still be withdrawn, because the turn is now shown from its beginning. */
  stale: boolean;
  /** When the break began during which this call waits, by `clock.elapsed`; null before any. */
  brokenAt: number | null;
  settle: (answer: LinkAnswer) => void;
  fail: (error: CoreError) => void;
  cancelTimer: () => void;
};

/** The core limits a turn by the engine's silence; this limit only catches a core that has lost a turn. */
export const turnLimitMs = 6 * 60 * 60_000;

/** Longest request, in characters: sending it again makes it longer by this field. */
const maxRequestLine = maxLinkLine - ',"again":true'.length;

export const lineOf = ({ line, request }: LinkCall): string => line ?? JSON.stringify({ ...request, again: true });

/** A message that the core recognizes when it is sent again. */
export const hasMessageId = ({ request }: LinkCall): boolean =>
  request.op === 'handle' && request.envelope.message_id !== undefined;

/** Errors with which the link itself refuses or ends a call; the caller reads them. */
export const linkFaults = {
  stopping: (mayHaveRun: boolean) => new CoreError('unavailable', 'This connector is stopping.', { mayHaveRun }),
  unreachable: () =>
    new CoreError('unavailable', 'The core cannot be reached. Check that the service is running, then try again.', {
      mayHaveRun: false,
    }),
  wentAway: () =>
    new CoreError(
      'unavailable',
      'The connection to the core was lost during this turn. The turn may have run; check before you repeat it.',
      {
        mayHaveRun: true,
      },
    ),
  overdue: () => new CoreError('unavailable', 'The core did not answer in time.', { mayHaveRun: true }),
  tooLong: () =>
    new CoreError('too_large', 'This message is too long for the core. Shorten it or its transcript.', { mayHaveRun: false }),
  tooMany: (count: number) =>
    new CoreError('queue_full', `${count} turns of this connector are already open. Try again in a moment.`, {
      mayHaveRun: false,
      details: { retry_after_s: 1 },
    }),
};

/** Shorter calls are accepted however much is held. */
const freeChars = 64 * 1024;

/** The open calls of a link, and their size. */
type Held = { calls: ReadonlyMap<number, LinkCall>; heldChars: number; maxHeldChars: number };

/** Why a call with this line is refused; null when it is accepted. */
export function lineFault({ calls, heldChars, maxHeldChars }: Held, line: string): CoreError | null {
  if (line.length >= maxRequestLine) return linkFaults.tooLong();
  const isHeavy = line.length > freeChars && heldChars + line.length > maxHeldChars;
  return isHeavy ? linkFaults.tooMany(calls.size) : null;
}

const replyFields = ['frame', 'result', 'identity', 'checkout', 'answered', 'amended', 'answer', 'error', 'accepted', 'seen'];

/** Null for a line that is not a reply. The core is trusted, so only what mixed versions could break is checked. */
export function parseReply(line: string): LinkReply | null {
  const reply = parseJsonOrNull(line);
  if (!isRecord(reply) || typeof reply['id'] !== 'number') return null;
  return replyFields.some((field) => field in reply) ? (reply as LinkReply) : null;
}
