import { stat } from 'node:fs/promises';
import type { OpenTerminal } from '@svc/contract/terminal.ts';
import { badRequest, conflict, notFound, ServiceError } from '@svc/service-kit/service-error.ts';
import type { FolderLooks } from '../folder/folder-looks.ts';
import type { SessionRow, SessionStore } from '../session/session-store.ts';
import type { Workspaces } from '../session/workspaces.ts';

/** Where a terminal is opened. `key` is null for a new session. */
export type Place = { key: string | null; engineId: string; resume: string | null; cwd: string };

export type PlaceDeps = {
  sessions: Pick<SessionStore, 'read' | 'open' | 'keepEngineSession' | 'delete'>;
  /** Whether a turn of the session runs or is queued. */
  isBusy(conversationKey: string): boolean;
  /** The key of a session that starts in a terminal. */
  keyOf(engineId: string, id: string): string;
  looks: Pick<FolderLooks, 'look'>;
  workspaces: Pick<Workspaces, 'shared'>;
};

/** @throws ServiceError that says what is wrong and what to do. */
export async function placeOf(deps: PlaceDeps, { conversation_key: key, engine, cwd }: OpenTerminal): Promise<Place> {
  if (key === undefined) {
    if (engine === undefined) throw badRequest('engine is missing: which engine is to run in the terminal?');
    return { key: null, engineId: engine, resume: null, cwd: await folderOf(deps, cwd, deps.workspaces.shared()) };
  }
  const session = await deps.sessions.read(key);
  if (session === undefined) throw notFound('session', key);
  const { engine_id, engine_session_id, claimed_by } = session;
  if (engine_id === null || engine_session_id === null)
    throw conflict('The session has no engine session to continue yet. Send it a message first.');
  if (engine !== undefined && engine !== engine_id) throw conflict(`The session belongs to ${engine_id}, not to ${engine}.`);
  if (claimed_by !== null) throw conflict(`The session is already claimed by ${claimed_by}.`, { claimed_by });
  if (deps.isBusy(key)) throw turnInFlight();
  return { key, engineId: engine_id, resume: engine_session_id, cwd: await folderOf(deps, cwd, sessionFolder(deps, session)) };
}

export const turnInFlight = () => conflict('A turn of this session is in flight. Abort it (POST /v2/abort), or wait.');

const sessionFolder = ({ workspaces }: PlaceDeps, { cwd }: SessionRow): string => cwd ?? workspaces.shared();

/** A folder from the request passes the same checks as every working folder; one that the service chose has to exist. */
async function folderOf({ looks }: PlaceDeps, wanted: string | undefined, usual: string): Promise<string> {
  if (wanted !== undefined) {
    const finding = await looks.look(wanted);
    if (!finding.ok) throw badRequest(`The terminal cannot work in this folder: ${finding.why}.`);
    return finding.path;
  }
  const isThere = await stat(usual).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isThere)
    throw new ServiceError('unprocessable', `The folder of the session, ${usual}, no longer exists. Name another one as "cwd".`);
  return usual;
}

/** Creates the session of a program in which nothing has been said yet. */
export async function newSession({ sessions, keyOf }: PlaceDeps, { engineId, cwd }: Place, id: string): Promise<string> {
  const key = keyOf(engineId, id);
  const session = await sessions.open({
    conversation_key: key,
    surface: 'terminal',
    instance_id: null,
    principal_id: null,
    is_own: true,
    outbound_instance_id: null,
    outbound_target: null,
    public: 0,
    engine_id: engineId,
    cwd,
    last_announce_id: 0,
  });
  if (!id.startsWith('term_')) await sessions.keepEngineSession(session, id);
  return key;
}
