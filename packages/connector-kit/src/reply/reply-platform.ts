import type { Ask } from '@svc/contract/ask.ts';

/** Where a write goes. `signal` aborts when its answer is not waited for any longer. */
export type Place = { chat: string; signal: AbortSignal };

/** A file that goes out: one of the upload area, or `data`, under the name that its reader sees. */
export type ReplyFile = { path: string; name: string; mime?: string; caption?: string; kind?: string; data?: Uint8Array };

/** Files that a platform shows as one message. */
export type ReplyAlbums = {
  /** Each file counts as a message in the limits of the platform. */
  countsEach?: boolean;
  /** Which of them go together, in their order. */
  group(files: readonly ReplyFile[]): readonly (readonly ReplyFile[])[];
  /** Posts two or more of them. */
  post(album: Place & { files: readonly ReplyFile[]; nonce: string; answers?: string }): Promise<unknown>;
};

/** One write at the pace of the chat. */
export type Paced = <T>(write: () => Promise<T>) => Promise<T>;

/** A message of which nobody knows whether it was posted. `paced`: for a search that cannot do without writes, for each of them. */
export type LostMessage = Place & { nonce: string; after?: string; answers?: string; text?: string; paced: Paced };

/**
 * What a platform can do with messages, each call one request. Reject with a `ServiceError`: `busy` with `retry_after_s` in its details for
 * a pause (`global: true` where it is one for all chats), `not_found` when the message is gone, `unprocessable` or `forbidden` for
 * what it will never take. Anything else counts as a fault of which nobody knows whether the write was taken. What a platform
 * cannot do is left out.
 */
export type ReplyPlatform = {
  /**
   * Posts one message and gives its id. `nonce`: the same for the same part of the same reply, however often it is tried; 24
   * characters. `answers`: the id of the message that is answered, with the first part; `about`: the same, with each part.
   */
  post(message: Place & { text: string; nonce: string; answers?: string; about?: string }): Promise<string>;
  /** Puts another text in the place of the one shown. That it is the same text already is no fault. */
  edit?(message: Place & { id: string; text: string }): Promise<unknown>;
  /**
   * Shows a message that is still being written, which goes away by itself: nothing of it is posted before it is whole. `nonce`: the one under which it
   * will be posted. False where the chat has no drafts: then it is posted, and edited.
   */
  draft?(message: Place & { text: string; nonce: string }): Promise<boolean>;
  remove?(message: Place & { id: string }): Promise<unknown>;
  /**
   * The id of the message that was posted under a nonce, if there is one. `after`: the id of a message that was there before it, where one is known.
   * `answers` and `text` are what is posted if there is none; an earlier state of a reply that grew may have had another text.
   */
  find?(message: LostMessage): Promise<string | null>;
  /** Shows for a few seconds that an answer is being written. */
  typing?(place: Place): Promise<unknown>;
  /** A file has either `data`, of those that `attach` made, or is opened by its `path`. */
  file?(file: Place & ReplyFile & { nonce: string; answers?: string }): Promise<unknown>;
  albums?: ReplyAlbums;
  /** The text of a reply with files is the caption of the first: all of it is one message. */
  textWithFiles?: true;
  /** What of a finished text is better shown as a file, and the text that is left. The same for the same text. */
  attach?(text: string): { text: string; files: readonly ReplyFile[] };
  /**
   * Posts a question with a button for each of its `options`, whose presses go to `core.answer`. Without it a question is asked as text.
   * Once it is over, `edit` gives it a text without buttons.
   */
  ask?(question: Place & { ask: Ask; text: string; nonce: string; answers?: string }): Promise<string>;
  /** `to`: the id of the message that is answered. `nonce`: for a message in place of it. */
  react?(reaction: Place & { to: string; emoji: string; nonce: string }): Promise<unknown>;
};
