import type { Session, SessionPage } from '@svc/contract/session.ts';
import { get } from '../parts/api.ts';
import { queryClient } from '../parts/query.ts';

/** The path of the sessions that worked last, the newest first. */
export const recentPath = '/core/v2/sessions?limit=50';

/** The session next to the one that is shown, or the newest when none is shown. Undefined: there is none, or the service is not reachable. */
export async function sessionBeside(shown: string | null, by: 1 | -1): Promise<string | undefined> {
  const page = await queryClient
    .fetchQuery<SessionPage>({ queryKey: [recentPath], queryFn: ({ signal }) => get<SessionPage>(recentPath, signal) })
    .catch(() => null);
  const keys = (page?.sessions ?? []).map(({ conversation_key: key }) => key);
  const at = shown === null ? -1 : keys.indexOf(shown);
  return at === -1 ? keys[0] : keys[(at + by + keys.length) % keys.length];
}

export const titleOf = ({ title, conversation_key: key }: Session): string => title ?? key;
