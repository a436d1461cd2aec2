import type { Session } from '@svc/contract/session.ts';
import type { Folders } from '../folder/folders.ts';
import type { Pipeline } from '../turn/pipeline.ts';
import type { SessionRow } from './session-store.ts';

type Deps = { pipeline: Pick<Pipeline, 'stateOf'>; folders: Pick<Folders, 'setFor'> };

/** The stored row with its live state. The fence and the parked sessions of other engines stay internal. */
export function toSession({ public: _public, ...row }: SessionRow, { pipeline, folders }: Deps): Session {
  const live = pipeline.stateOf(row.conversation_key);
  const state = live === 'idle' && row.claimed_by !== null ? 'claimed' : live;
  const title_by = row.title_by === 'asked' ? 'words' : row.title_by;
  return { ...row, title_by, state, working_folder: folderOf(row, folders) };
}

type Origin = Pick<SessionRow, 'conversation_key' | 'instance_id' | 'surface'>;

function folderOf({ conversation_key, instance_id, surface }: Origin, { setFor }: Deps['folders']): Session['working_folder'] {
  const folder = setFor({ conversationKey: conversation_key, instanceId: instance_id, channel: surface });
  return folder === null ? null : { scope: folder.scope, path: folder.path, for: folder.for };
}
