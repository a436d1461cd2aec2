import type { ControlAction } from './control.ts';
import type { EventKind } from './event.ts';
import type { SystemSample } from './insights.ts';

/** Whose feed it is. */
export type LiveSource = 'core' | 'collector';

/**
 * The frames of the dashboard's `GET /live`, by name. They say that something happened, not what: a page asks for what it shows. The id of a frame is
 * that of the event.
 */
export type LiveFrames = {
  /** The feed is open. What happened before is not in it. */
  ready: Record<string, never>;
  event: { kind: EventKind };
  'sessions-changed': { sessions: string[] };
  control: ControlAction;
  'system-sample': SystemSample;
  /** What this process said is missing here: all that is shown of it is to be asked for again. */
  gap: { of: LiveSource };
  /** This process does not answer. It is tried again, and a `gap` follows. */
  away: { of: LiveSource };
};
export type LiveFrame = { [Name in keyof LiveFrames]: { type: Name } & LiveFrames[Name] }[keyof LiveFrames];
