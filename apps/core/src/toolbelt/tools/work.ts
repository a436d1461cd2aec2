import path from 'node:path';
import type { WhoTouched, WorkMap } from '@svc/contract/insights.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import { conversationOf, seenBy, type ToolCaller } from '../tool-caller.ts';
import { isoTime, type Tool, type ToolDeps } from './tool.ts';

/** Active sessions by the repository or folder they work in. */
export const drawMap: Tool<'svc_map'> = async ({ readCollector }, caller, { since }) => {
  const map = await readCollector<WorkMap>(`/api/map${query({ since })}`);
  const places = map.places
    .map(({ place, kind, sessions }) => ({ place, kind, sessions: seenBy(caller, sessions) }))
    .filter(({ sessions }) => sessions.length > 0)
    .map(({ sessions, ...place }) => ({ ...place, shared: sessions.length > 1, sessions: sessions.map(withTime) }));
  return { since: isoTime(map.since), places, ...(map.truncated && { note: 'There are more sessions than are shown.' }) };
};

/** The sessions that touched a path or anything below it. */
export const whoTouched: Tool<'svc_who'> = async (deps, caller, input) => {
  const file = await fullPath(deps, caller, input.path);
  const who = await deps.readCollector<WhoTouched>(`/api/who${query({ path: file, since: input.since })}`);
  const sessions = seenBy(caller, who.sessions).map(({ paths, ...session }) => ({
    ...withTime(session),
    paths: paths.map(withTime),
  }));
  const note = 'Not everything was searched: an older session may be missing.';
  return { path: who.path, since: isoTime(who.since), sessions, ...(who.truncated && { note }) };
};

/** Relative paths are resolved in the working folder of the caller's engine. */
async function fullPath({ sessions }: ToolDeps, caller: ToolCaller, name: string): Promise<string> {
  if (path.isAbsolute(name)) return path.normalize(name);
  const key = conversationOf(caller);
  const cwd = key === null ? null : (await sessions.read(key))?.cwd;
  if (cwd === null || cwd === undefined) throw badRequest('"path" must be an absolute path here.');
  return path.resolve(cwd, name);
}

const withTime = <T extends { last_at: number }>(row: T) => ({ ...row, last_at: isoTime(row.last_at) });

function query(fields: Record<string, string | number | undefined>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) params.set(name, typeof value === 'number' ? String(Math.trunc(value)) : value);
  }
  return params.size === 0 ? '' : `?${params.toString()}`;
}
