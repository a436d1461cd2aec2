import type { Ask } from '@svc/contract/ask.ts';

/** Where a write goes. `signal` aborts when nobody waits for its answer any longer. */
export type Place = { chat: string; signal: AbortSignal };

/** A file to send: one of the upload area, or `data`, under the name that its reader sees. */
export type ReplyFile = { path: string; name: string; mime?: string; caption?: string; kind?: string; data?: Uint8Array };

/** Files that a platform shows as one message. */
export type ReplyAlbums = {
  /** Each file counts as a message in the platform's rate limits. */
  countsEach?: boolean;
  /** Groups the files that belong together, in order. */
  group(files: readonly ReplyFile[]): readonly (readonly ReplyFile[])[];
  /** Posts an album of two or more files. */
  post(album: Place & { files: readonly ReplyFile[]; nonce: string; answers?: string }): Promise<unknown>;
};

/** Runs one write at the pace of the chat. */
export type Paced = <T>(write: () => Promise<T>) => Promise<T>;

/** A message that may or may not have been posted. `paced`: for each write of a search that needs writes. */
export type LostMessage = Place & { nonce: string; after?: string; answers?: string; text?: string; paced: Paced };

/**
 * What a platform can do with messages; each call is one request. Reject with a `ServiceError`: `busy` with `retry_after_s` in its details
 * for a pause (`global: true` when it applies to all chats), `not_found` when the message is gone, `unprocessable` or `forbidden` for what
 * it will never accept. After any other error, the outcome of the write counts as unknown. Leave out what a platform cannot do.
 */
export type ReplyPlatform = {
  /**
   * Posts one message and returns its id. `nonce`: the same for each attempt at the same part of a reply; 24 characters. `answers`: the id
   * of the answered message, with the first part only; `about`: the same id, with each part.
   */
  post(message: Place & { text: string; nonce: string; answers?: string; about?: string }): Promise<string>;
  /** Replaces the text of a message. An identical text is not an error. */
  edit?(message: Place & { id: string; text: string }): Promise<unknown>;
  /**
   * Shows a message that is still being written as a draft, which expires by itself: it is posted only when it is complete. `nonce`: the
   * one under which it will be posted. False where the chat has no drafts: then the message is posted and edited.
   */
  draft?(message: Place & { text: string; nonce: string }): Promise<boolean>;
  remove?(message: Place & { id: string }): Promise<unknown>;
  /**
   * The id of the message that was posted under a nonce, if there is one. `after`: the id of an earlier message, where one is known.
   * `answers` and `text` are what will be posted if there is none; an earlier state of a growing reply may have had another text.
   */
  find?(message: LostMessage): Promise<string | null>;
  /** Shows for a few seconds that an answer is being written. */
  typing?(place: Place): Promise<unknown>;
  /** A file has either `data`, when `attach` made it, or a `path` to open. */
  file?(file: Place & ReplyFile & { nonce: string; answers?: string }): Promise<unknown>;
  albums?: ReplyAlbums;
  /** The text of a reply with files becomes the caption of the first file: together they are one message. */
  textWithFiles?: true;
  /** Splits a finished text into what is better shown as files and the remaining text. Deterministic. */
  attach?(text: string): { text: string; files: readonly ReplyFile[] };
  /**
   * Posts a question with a button for each of its `options`; presses go to `core.answer`. Without it, questions are asked as text. Once
   * the question is closed, `edit` replaces its text, without buttons.
   */
  ask?(question: Place & { ask: Ask; text: string; nonce: string; answers?: string }): Promise<string>;
  /** `to`: the id of the answered message. `nonce`: for a message in place of the reaction. */
  react?(reaction: Place & { to: string; emoji: string; nonce: string }): Promise<unknown>;
};
