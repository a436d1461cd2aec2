import type { Amendment, AmendResult } from './amend.ts';
import type { Answered, AnswerRequest } from './ask.ts';
import type { Checkout, CheckoutRequest } from './checkout.ts';
import type { Envelope } from './envelope.ts';
import type { ErrorBody } from './error-body.ts';
import type { History, InjectAnswer, SessionPage, SessionStreamFrame } from './session.ts';
import type { TurnProgress, HandleResult } from './turn.ts';
import type { Identity } from './trust.ts';

/** The id for messages about the link as a whole instead of a call. */
export const noCall = 0;

/**
 * The connector link: one lasting unix socket between a connector and the core, with JSON lines both ways and an id of the
 * connector's for each request. The core lets a link act for one instance only: the one of its pass. The link carries the same
 * calls as `POST /v2/handle`, `POST /v2/amend` and `POST /trust/resolve`, at a third of the cost.
 */
export type LinkRequest =
  /** The first line of a link: the pass that the manager gave this process. A valid one gets no answer. */
  | { op: 'hello'; id: typeof noCall; pass: string }
  | {
      op: 'handle';
      id: number;
      stream: boolean;
      request_id?: string;
      /** The connector will report with `delivered` what became of the reply. Otherwise the reply counts as delivered when it is sent. */
      confirm?: boolean;
      /** `accepted` is sent as soon as the message is stored in the core's journal. */
      ack?: boolean;
      /** Sent before over a link that broke: it joins the same turn, and a reply that was pushed meanwhile is not returned again. */
      again?: boolean;
      /** Its channel can show questions. Otherwise they are denied, unless another reader can show them. */
      asks?: boolean;
      envelope: Envelope;
    }
  /** The result of a reply on the channel; `error` when it could not be shown. It gets no answer. */
  | { op: 'delivered'; id: number; turn_id: string; error?: string }
  /** A person's answer to a question. */
  | ({ op: 'answer'; id: number; ask_id: string } & AnswerRequest)
  | { op: 'resolve'; id: number; envelope: Pick<Envelope, 'channel' | 'sender' | 'public' | 'conversation_key'> }
  /** A message was edited or deleted. */
  | ({ op: 'amend'; id: number } & Amendment)
  /** A copy of a git repository, for conversations of this instance, with only its credentials. */
  | { op: 'checkout'; id: number; checkout: CheckoutRequest }
  | SessionRequest
  /** Ends the request with the id `watch`. Neither of them gets an answer any more. */
  | { op: 'unwatch'; id: number; watch: number };

/** For whom a conversation is shown or changed: a sender of the link's own channel. */
export type SessionAsker = Pick<Envelope, 'channel' | 'sender'>;

/**
 * Requests about conversations of the link's own instance, for the sender `as`: that person's own ones, and for an owner all. The
 * HTTP routes of the same names do the same for the operator.
 */
export type SessionRequest =
  | { op: 'sessions'; id: number; as: SessionAsker; limit?: number; before?: string }
  | { op: 'history'; id: number; as: SessionAsker; conversation_key: string; limit?: number; before?: number }
  | { op: 'forget' | 'abort'; id: number; as: SessionAsker; conversation_key: string }
  /** `message_id`: a message with the same one is processed once; a repetition gets the same answer. */
  | {
      op: 'inject';
      id: number;
      as: SessionAsker;
      conversation_key: string;
      text: string;
      interrupt?: boolean;
      message_id?: string;
    }
  /**
   * `after`: the `seq` of the last frame that was received. With `frames: false` no frames are sent, and the conversation need not
   * exist: the watch ends when the sender loses access.
   */
  | { op: 'watch'; id: number; as: SessionAsker; conversation_key: string; after?: number; frames?: boolean };

export type SessionAnswer = SessionPage | History | InjectAnswer | { ok: true };

/**
 * An `error` with the id 0 concerns the link as a whole, which is then closed. `accepted` comes once, for an accepted message that
 * requested it; `frame` repeats while a streamed turn runs, `seen` while a conversation is watched. Then exactly one of `result`,
 * `identity`, `answered`, `amended`, `checkout`, `answer`, `error` closes the id.
 */
export type LinkReply =
  | { id: number; accepted: { turn_id: string } }
  | { id: number; frame: TurnProgress }
  | { id: number; result: HandleResult }
  | { id: number; identity: Identity }
  | { id: number; checkout: Checkout }
  | { id: number; answered: Answered }
  | { id: number; amended: AmendResult }
  | { id: number; answer: SessionAnswer }
  | { id: number; seen: SessionStreamFrame }
  | { id: number; error: ErrorBody };

/** The longest line that either side accepts: bytes for the core, characters for a connector. */
export const maxLinkLine = 16 * 1024 * 1024;
