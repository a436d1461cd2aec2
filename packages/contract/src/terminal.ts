import { conversationKeySchema } from './envelope.ts';

/** Body of `POST /v2/terminals`. */
export const openTerminalSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    /** A session to continue; without one a new session begins. */
    conversation_key: conversationKeySchema,
    /** Required for a new session. */
    engine: { type: 'string', minLength: 1, maxLength: 64 },
    /** An absolute path. Default: the folder of the session's last turn, or the shared workspace. */
    cwd: { type: 'string', minLength: 1, maxLength: 4096 },
  },
} as const;

export type OpenTerminal = { conversation_key?: string; engine?: string; cwd?: string };

/** An engine's program in a terminal of the service's own tmux server. `id` is tmux's name for it. */
export type Terminal = {
  id: string;
  conversation_key: string;
  engine_id: string;
  /** Null while the engine has not reported it yet. */
  engine_session_id: string | null;
  cwd: string;
  pid: number;
  started_at: number;
  /** The command that attaches a person's terminal to it. */
  attach: string[];
};

/** Answer of `GET /v2/terminals`. */
export type TerminalList = { terminals: Terminal[] };
