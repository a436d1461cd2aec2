import type { UploadedPart } from '../api-types.ts';
import type { BotProfile } from '../bot-profile.ts';
import type { Platform } from '../platform.ts';
import type { StoredMessage } from '../model.ts';

/** A request of a bot. The description has checked its body, so an operation may take it as the type that it knows. */
export type OperationCall = {
  /** Those that a token of an interaction allows come without a bot. */
  bot: BotProfile;
  at: Record<string, string>;
  query: URLSearchParams;
  body: unknown;
  files: ReadonlyMap<string, UploadedPart>;
  /** Notes which message it made or changed. */
  made(message: StoredMessage): void;
};

/** Answers with what is to be sent as JSON; undefined for an answer without content. @throws ApiError */
export type Operation = (platform: Platform, call: OperationCall) => unknown;
export type Operations = Record<string, Operation>;
