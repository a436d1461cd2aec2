import type { ControlAction } from './control.ts';
import type { EventKind } from './event.ts';
import type { SystemSample } from './insights.ts';

/** Whose feed it is. */
export type LiveSource = 'core' | 'collector';

/**
 * The frames of the dashboard's `GET /live`, by name. They only report that something happened: a page requests what it shows.
 * The id of a frame is that of the event.
 */
export type LiveFrames = {
  /** The feed is open. What happened before is not in it. */
  ready: Record<string, never>;
  event: { kind: EventKind };
  'sessions-changed': { sessions: string[] };
  control: ControlAction;
  'system-sample': SystemSample;
  /** Frames of this process were missed: a page must request everything from it again. */
  gap: { of: LiveSource };
  /** This process does not answer. It is retried, and a `gap` follows. */
  away: { of: LiveSource };
};
export type LiveFrame = { [Name in keyof LiveFrames]: { type: Name } & LiveFrames[Name] }[keyof LiveFrames];
