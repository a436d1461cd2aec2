/** A file of a message. Its bytes are at `GET /files/:id`. */
export type PlatformFile = { id: string; name: string; mime: string; size: number };
export type PlatformButton = { id: string; label: string };
export type PlatformUser = { id: string; name: string; bot: boolean };
export type PlatformChat = { id: string; kind: 'private' | 'group'; title: string };

export type PlatformMessage = {
  /** Ascending in the whole platform, so the order of a chat is the order of its ids. */
  id: string;
  chat: PlatformChat;
  from: PlatformUser;
  text: string;
  mentions_bot: boolean;
  /** Parts of one album share it. Each part is a message, and an update, of its own. */
  album?: string;
  file?: PlatformFile;
  buttons?: PlatformButton[];
  reply_to?: string;
};

/** An event. Ids grow by one: an update is sent again until a poll asks for later ones. */
export type PlatformUpdate = { id: number } & UpdateBody;
export type UpdateBody =
  | { kind: 'message' | 'edited'; message: PlatformMessage }
  /** As it was before. */
  | { kind: 'deleted'; message: PlatformMessage }
  | { kind: 'reaction'; chat_id: string; message_id: string; from: PlatformUser; emoji: string }
  | { kind: 'press'; message: PlatformMessage; from: PlatformUser; press_id: string; button_id: string };

export type FileToSay = { name: string; mime: string; bytes: Uint8Array };

/** A message with the fields that only the platform and the test see. */
export type StoredMessage = PlatformMessage & {
  /** All its texts, the current one last. */
  texts: string[];
  /** The nonce that the bot gave it. */
  nonce: string | null;
  isDeleted: boolean;
  /** Of the bot. */
  reactions: string[];
};

/** An error of the platform, in place of the requested action. */
export class PlatformRefusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfterS: number | null;
  constructor(status: number, code: string, retryAfterS: number | null = null) {
    super(code);
    this.status = status;
    this.code = code;
    this.retryAfterS = retryAfterS;
  }
}
