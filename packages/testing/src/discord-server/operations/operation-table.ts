import type { UploadedPart } from '../api-types.ts';
import type { BotProfile } from '../bot-profile.ts';
import type { Platform } from '../platform.ts';
import type { StoredMessage } from '../model.ts';

/** A request of a bot. Its body is already checked against the description, so an operation may cast it to its type. */
export type OperationCall = {
  /** Those that a token of an interaction allows come without a bot. */
  bot: BotProfile;
  at: Record<string, string>;
  query: URLSearchParams;
  body: unknown;
  files: ReadonlyMap<string, UploadedPart>;
  /** Records the message that it created or changed. */
  made(message: StoredMessage): void;
};

/** Returns the JSON answer; undefined for an answer without content. @throws ApiError */
export type Operation = (platform: Platform, call: OperationCall) => unknown;
export type Operations = Record<string, Operation>;
