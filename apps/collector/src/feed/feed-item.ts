import type { ControlAction } from '@svc/contract/control.ts';
import type { TelemetryEvent } from '@svc/contract/event.ts';
import type { SystemSample } from '@svc/contract/insights.ts';

/** The items of the live feed (spec: Feeds), by name. */
export type FeedItems = {
  event: TelemetryEvent;
  'system-sample': SystemSample;
  /** The sessions that changed since the last one. */
  'sessions-changed': { sessions: string[] };
  control: ControlAction;
};

export type FeedItem = { [Name in keyof FeedItems]: { name: Name; data: FeedItems[Name] } }[keyof FeedItems];
