import type { Static } from '@svc/contract/schema.ts';
import type { ToolName, toolInputs } from '@svc/contract/toolbelt.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import type { Announcements } from '../../announcement/announcements.ts';
import type { Outbox } from '../../delivery/outbox.ts';
import type { Events } from '../../events.ts';
import type { Folders } from '../../folder/folders.ts';
import type { ConversationFiles } from '../../session/conversation-files.ts';
import type { SessionStore } from '../../session/session-store.ts';
import type { Pipeline } from '../../turn/pipeline.ts';
import type { TurnActions } from '../../turn/turn-actions.ts';
import type { Uploads } from '../../upload/uploads.ts';
import type { ReadCollector } from '../collector-reader.ts';
import type { ToolCaller } from '../tool-caller.ts';

export type ToolDeps = {
  settings: Pick<CoreSettings, 'bindHost' | 'managerPort' | 'managerToken'>;
  paths: DataPaths;
  clock: Clock;
  ids: Ids;
  sessions: SessionStore;
  pipeline: Pick<Pipeline, 'stateOf'>;
  folders: Folders;
  announcements: Announcements;
  events: Events;
  outbox: Outbox;
  knownSecrets: KnownSecrets;
  uploads: Uploads;
  conversationFiles: ConversationFiles;
  readCollector: ReadCollector;
  turnActions: Pick<TurnActions, 'add' | 'checkRoom'>;
};

/** Runs a tool for a caller that may use it. The model gets the result as JSON. @throws ServiceError. */
export type Tool<Name extends ToolName> = (
  deps: ToolDeps,
  caller: ToolCaller,
  input: Static<(typeof toolInputs)[Name]>,
) => Promise<object>;

/** A time in the form that models get. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();
