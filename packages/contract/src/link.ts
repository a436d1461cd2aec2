import type { Amendment, AmendResult } from './amend.ts';
import type { Answered, AnswerRequest } from './ask.ts';
import type { Checkout, CheckoutRequest } from './checkout.ts';
import type { Envelope } from './envelope.ts';
import type { ErrorBody } from './error-body.ts';
import type { History, InjectAnswer, SessionPage, SessionStreamFrame } from './session.ts';
import type { TurnProgress, HandleResult } from './turn.ts';
import type { Identity } from './trust.ts';

/** The number of no call: what is said of a link as a whole. */
export const noCall = 0;

/**
 * The connector link: one lasting unix socket between a connector and the core, JSON lines both ways, every turn with
 * an id of the connector's. The core lets a link speak for one instance alone: the one whose pass it began with. It carries the same calls as `POST /v2/handle`, `POST /v2/amend` and `POST /trust/resolve`, at a third of the cost.
 */
export type LinkRequest =
  /** The first line of a link: the pass that the manager gave this process. Nothing is answered to one that is good. */
  | { op: 'hello'; id: typeof noCall; pass: string }
  | {
      op: 'handle';
      id: number;
      stream: boolean;
      request_id?: string;
      /** The connector will say with `delivered` what became of the reply; without it, handing it over is delivery. */
      confirm?: boolean;
      /** `accepted` is sent as soon as the message is safe in the core's journal. */
      ack?: boolean;
      /** Sent before, over a link that broke: the same turn is joined, and a reply that was pushed meanwhile is not given again. */
      again?: boolean;
      /** Its channel shows questions. Without it they are denied where nobody else can. */
      asks?: boolean;
      envelope: Envelope;
    }
  /** What became of a reply on the channel; `error` when it could not be shown. Nothing is answered to it. */
  | { op: 'delivered'; id: number; turn_id: string; error?: string }
  /** What a person has answered to a question. */
  | ({ op: 'answer'; id: number; ask_id: string } & AnswerRequest)
  | { op: 'resolve'; id: number; envelope: Pick<Envelope, 'channel' | 'sender' | 'public' | 'conversation_key'> }
  /** A message was edited or deleted. */
  | ({ op: 'amend'; id: number } & Amendment)
  /** A copy of a git repository, for conversations of this instance, with its credentials alone. */
  | { op: 'checkout'; id: number; checkout: CheckoutRequest }
  | SessionRequest
  /** Ends what the request with the number `watch` began. Nothing is answered to it, and nothing more to that one. */
  | { op: 'unwatch'; id: number; watch: number };

/** For whom a conversation is shown or changed: a sender of the link's own channel. */
export type SessionAsker = Pick<Envelope, 'channel' | 'sender'>;

/**
 * What a link may ask about conversations of its own instance, for the sender `as`: those of the same person, and for an owner all. The HTTP
 * routes of the same names do the same for the operator.
 */
export type SessionRequest =
  | { op: 'sessions'; id: number; as: SessionAsker; limit?: number; before?: string }
  | { op: 'history'; id: number; as: SessionAsker; conversation_key: string; limit?: number; before?: number }
  | { op: 'forget' | 'abort'; id: number; as: SessionAsker; conversation_key: string }
  /** `message_id`: words with the same one are said once; who sends them again gets the same answer. */
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
   * `after`: the `seq` of the last frame that was seen. With `frames: false` none comes, and there need be no conversation: it ends when the
   * sender is let in no more.
   */
  | { op: 'watch'; id: number; as: SessionAsker; conversation_key: string; after?: number; frames?: boolean };

export type SessionAnswer = SessionPage | History | InjectAnswer | { ok: true };

/** An `error` with the id 0 is about the link as a whole, which is closed then. `accepted` comes once for a message that wants it and is taken; `frame` repeats while a streamed turn runs, `seen` while a conversation is watched. Then exactly one of `result`, `identity`, `answered`, `amended`, `checkout`, `answer`, `error` closes the id. */
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

/** Longest line either side accepts: bytes for the core, characters for a connector. */
export const maxLinkLine = 16 * 1024 * 1024;
