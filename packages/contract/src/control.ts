import type { Static } from './schema.ts';

const session_id = { type: 'string', minLength: 1, maxLength: 1024, description: 'Conversation key' } as const;

/** Body of `POST /api/control/kill`. */
export const killSchema = {
  type: 'object',
  required: ['session_id'],
  additionalProperties: false,
  properties: { session_id, hard: { type: 'boolean', description: 'SIGKILL at once' } },
} as const;

/** Body of `POST /api/control/stop`. */
export const stopSchema = {
  type: 'object',
  required: ['session_id'],
  additionalProperties: false,
  properties: { session_id },
} as const;

/** Body of `POST /api/control/send-keys`: a text, optionally followed by `enter`, or one named key. */
export const sendKeysSchema = {
  type: 'object',
  required: ['session_id'],
  additionalProperties: false,
  properties: {
    session_id,
    text: { type: 'string', maxLength: 16_384 },
    keys: { type: 'string', minLength: 1, maxLength: 32 },
    enter: { type: 'boolean' },
  },
} as const;

/** The whole service, as a target of `POST /api/control/restart-daemon`. No instance can have this id. */
export const wholeService = '*';

/** Body of `POST /api/control/restart-daemon`. */
export const restartSchema = {
  type: 'object',
  required: ['target'],
  additionalProperties: false,
  properties: {
    target: {
      type: 'string',
      minLength: 1,
      maxLength: 128,
      description: 'A host process, the id of an instance, or * for the whole service',
    },
  },
} as const;

export type SendKeysRequest = Static<typeof sendKeysSchema>;

export const controlActions = ['kill', 'stop', 'send-keys', 'diff', 'restart-daemon'] as const;
export type ControlActionName = (typeof controlActions)[number];

/**
 * One row of the audit. It is written before the action; `outcome` is `pending` until that has finished, and stays so if the
 * collector ended in between.
 */
export type ControlAction = {
  id: string;
  at: number;
  actor: string;
  action: ControlActionName;
  target: string;
  /** The details of the request, without typed text. */
  details: Record<string, unknown>;
  outcome: 'pending' | 'done' | 'refused' | 'failed';
  /** Why not. */
  error: string | null;
  finished_at: number | null;
};

/** Answer of `GET /api/control/audit`, newest first. */
export type ControlAudit = { actions: ControlAction[] };

/** Answer of the actions. */
export type ControlAnswer = { ok: true; audit_id: string; action: ControlActionName; target: string };

/** Answer of `GET /api/control/diff`. `truncated`: the diff is longer. */
export type ControlDiff = ControlAnswer & {
  root: string;
  branch: string | null;
  files: string[];
  diff: string;
  truncated: boolean;
};
