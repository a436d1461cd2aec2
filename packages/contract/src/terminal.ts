import { conversationKeySchema } from './envelope.ts';

/** Body of `POST /v2/terminals`. */
export const openTerminalSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    /** A session to go on with; without one a new session begins. */
    conversation_key: conversationKeySchema,
    /** Needed for a new session; that of another one is known. */
    engine: { type: 'string', minLength: 1, maxLength: 64 },
    /** Absolute. Unless given, the folder of the session's last turn, or the shared workspace. */
    cwd: { type: 'string', minLength: 1, maxLength: 4096 },
  },
} as const;

export type OpenTerminal = { conversation_key?: string; engine?: string; cwd?: string };

/** An engine's program in a terminal of the service's own tmux server. `id` is what tmux calls it. */
export type Terminal = {
  id: string;
  conversation_key: string;
  engine_id: string;
  /** Null for an engine that says it only later. */
  engine_session_id: string | null;
  cwd: string;
  pid: number;
  started_at: number;
  /** The command by which a person sees it. */
  attach: string[];
};

/** Answer of `GET /v2/terminals`. */
export type TerminalList = { terminals: Terminal[] };
