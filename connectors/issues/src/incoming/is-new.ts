import type { StartContext } from '@svc/connector-kit';
import type { WatchedRepo } from '../github/find-account.ts';
import type { GitHubApi } from '../github/github-api.ts';
import { toTarget, type IssuePlace } from '../outgoing/issue-place.ts';
import type { Said } from './said.ts';

export type NewDeps = {
  api: Pick<GitHubApi, 'lastEdit'>;
  log: StartContext['log'];
  /** Whether there is an answer of ours to it. */
  isAnswered(place: IssuePlace, name: string, since: string, signal: AbortSignal): Promise<boolean>;
};

/**
 * What was changed since it was written may have been answered long ago, may have called us before we were here, and may have been written by another: who may
 * write to a repository may change what others said there.
 */
export async function isNew(deps: NewDeps, said: Said, repo: WatchedRepo, signal: AbortSignal): Promise<boolean> {
  const edit = said.updatedAt === said.createdAt ? null : await deps.api.lastEdit(said.node, signal);
  const saidAt = edit?.at ?? said.createdAt;
  if (isBefore(saidAt, repo)) return false;
  if (edit !== null && edit.login?.toLowerCase() !== said.by?.login.toLowerCase()) {
    deps.log('warn', 'a mention is ignored because someone other than its author edited it', {
      place: toTarget(said.place),
      by: edit.login,
    });
    return false;
  }
  return !(await deps.isAnswered(said.place, said.name, said.createdAt, signal));
}

/** Whether it was there before the repository was watched. GitHub's times have no parts of a second; those of what only looks like GitHub may. */
export const isBefore = (time: string, { since }: WatchedRepo): boolean => wholeSecond(time) < wholeSecond(since);
const wholeSecond = (time: string): string => time.replace(/\.\d+Z$/, 'Z');
