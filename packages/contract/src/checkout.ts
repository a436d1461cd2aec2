import { conversationKeySchema } from './envelope.ts';

/** What `POST /v2/checkouts` and the link's `checkout` ask for. */
export const checkoutFields = {
  /** `https://…`, without a user, a password, a query. */
  url: { type: 'string', minLength: 1, maxLength: 2048 },
  /** A branch, a tag, a commit, or a full name such as `refs/pull/7/head`. Default: the repository's default branch. */
  ref: { type: 'string', minLength: 1, maxLength: 255 },
  /** The name of a secret: a token, or `user:password`. Never its value. */
  credential: { type: 'string', minLength: 1, maxLength: 1024 },
  /** The conversation that it is for; the same one gets the same checkout again. */
  conversation_key: conversationKeySchema,
  /** Fetch the newest commit now, even if there are changes in the checkout; what was not pushed is lost. */
  refresh: { type: 'boolean' },
} as const;

export type CheckoutRequest = {
  url: string;
  ref?: string;
  credential?: string;
  conversation_key?: string;
  refresh?: boolean;
};

/** A copy of a repository's files at one commit. `path` is where turns work in it. */
export type Checkout = { id: string; path: string; sha: string };

/** Times are epoch ms. */
export type ListedCheckout = Checkout & {
  url: string;
  ref: string | null;
  credential: string | null;
  /** The instance that owns it; null for one that the operator requested. */
  instance_id: string | null;
  /** The conversation that works in it. */
  conversation_key: string | null;
  /** Of its files. */
  bytes: number;
  fetched_at: number;
  used_at: number;
};

/** Answer of `GET /v2/checkouts`. */
export type CheckoutList = { checkouts: ListedCheckout[] };
