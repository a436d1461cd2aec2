import type { ToolName, toolInputs } from '@svc/contract/toolbelt.ts';
import type { Static } from '@svc/contract/schema.ts';
import type { CoreContext } from '../../context.ts';
import type { ReadCollector } from '../collector-reader.ts';
import type { ToolCaller } from '../tool-caller.ts';

export type ToolDeps = Pick<
  CoreContext,
  | 'settings'
  | 'paths'
  | 'clock'
  | 'ids'
  | 'sessions'
  | 'turnQueue'
  | 'folders'
  | 'announcements'
  | 'events'
  | 'outbox'
  | 'knownSecrets'
  | 'uploads'
  | 'conversationFiles'
> & { readCollector: ReadCollector };

/** What a tool does for a caller that may use it. Its result is what the model gets, as JSON. @throws ServiceError. */
export type Tool<Name extends ToolName> = (
  deps: ToolDeps,
  caller: ToolCaller,
  input: Static<(typeof toolInputs)[Name]>,
) => Promise<object>;

/** A time as a model reads it. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();
