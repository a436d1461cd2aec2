import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { askCollector } from '../ask-collector.ts';
import { renderSessions, type SessionFacts } from '../insights/render-sessions.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print } from '../terminal.ts';

/** `all`: also those in which nothing happened for a while. */
export type SessionsOptions = { all?: boolean; limit: number; json?: boolean };

/** Lists the sessions that are at work, the one of the newest event first. */
export async function sessions({ all, limit, json }: SessionsOptions): Promise<number> {
  const query = { limit, active: all === true ? undefined : 1 };
  const answer = await askCollector<{ sessions: SessionFacts[] }>(loadSettings(repositoryRoot), '/api/sessions', query);
  if (json === true) print(JSON.stringify(answer, null, 2));
  else if (answer.sessions.length === 0 && all !== true) print('No session is at work. ./svc sessions --all lists the others.');
  else print(renderSessions(answer.sessions, Date.now(), createStyle(process.stdout)));
  return exitCodes.ok;
}
