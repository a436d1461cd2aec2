import type { Ingress, StartContext } from '@svc/connector-kit';
import type { WatchedRepo } from '../github/find-account.ts';
import type { GitHubApi } from '../github/github-api.ts';
import { toTarget, type IssuePlace } from '../outgoing/issue-place.ts';
import type { Said } from './said.ts';
import { toEnvelope, type EnvelopeDeps } from './to-envelope.ts';

export type TakeDeps = EnvelopeDeps & {
  api: Pick<GitHubApi, 'read' | 'lastEdit'>;
  ingress: Pick<Ingress, 'take'>;
  log: StartContext['log'];
  /** Our own account. */
  own: { id: number; login: string };
  isMentioned(text: string): boolean;
  /** Whether there is an answer of ours to it. */
  isAnswered(place: IssuePlace, name: string, since: string, signal: AbortSignal): Promise<boolean>;
};

/** Whether something that was said calls us, as far as can be seen of it alone. */
export function isCall(
  { own, config, isMentioned }: Pick<TakeDeps, 'own' | 'config' | 'isMentioned'>,
  { by, body }: Said,
): boolean {
  if (by === null || by.id === own.id || by.login.toLowerCase() === own.login.toLowerCase()) return false;
  const isBot = by.isBot || by.login.endsWith('[bot]');
  if (isBot && !config.allowed_bots.some((one) => one.toLowerCase() === by.login.toLowerCase())) return false;
  return isMentioned(body);
}

/** Takes what was said or changed, once for each thing that calls us. */
export async function takeSaid(deps: TakeDeps, said: Said | null, repo: WatchedRepo): Promise<void> {
  if (said === null || !isCall(deps, said)) return;
  await deps.ingress.take(toTarget(said.place), said.name, async (signal) =>
    (await isNew(deps, said, repo, signal)) ? toEnvelope(deps, said, repo, signal) : null,
  );
}

/**
 * What was changed since it was written may have been answered long ago, may have called us before we were here, and may have been written by another: who may
 * write to a repository may change what others said there.
 */
async function isNew(deps: TakeDeps, said: Said, repo: WatchedRepo, signal: AbortSignal): Promise<boolean> {
  const edit = said.updatedAt === said.createdAt ? null : await deps.api.lastEdit(said.node, signal);
  const saidAt = edit?.at ?? said.createdAt;
  if (saidAt < wholeSecond(repo.since)) return false;
  if (edit !== null && edit.login?.toLowerCase() !== said.by?.login.toLowerCase()) {
    deps.log('warn', 'a mention is passed over: another than its author has edited it', {
      place: toTarget(said.place),
      by: edit.login,
    });
    return false;
  }
  return !(await deps.isAnswered(said.place, said.name, said.createdAt, signal));
}

/** GitHub's times have no parts of a second. */
const wholeSecond = (time: string): string => time.replace(/\.\d+Z$/, 'Z');
