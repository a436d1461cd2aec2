import type { StartContext } from '@svc/connector-kit';
import type { WatchedRepo } from '../github/find-account.ts';
import type { GitHubApi } from '../github/github-api.ts';
import { toTarget, type IssuePlace } from '../outgoing/issue-place.ts';
import { isGone } from '../outgoing/watch-working-comment.ts';
import type { GitHubPost } from './github-post.ts';

export type NewDeps = {
  api: Pick<GitHubApi, 'lastEdit'>;
  log: StartContext['log'];
  /** Whether we have already answered it. */
  isAnswered(place: IssuePlace, name: string, since: string, signal: AbortSignal): Promise<boolean>;
};

/**
 * Whether a post is a new mention. An edited post may have been answered before, may be older than the watch, or may have been
 * edited by someone else: people with write access can edit the posts of others.
 */
export async function isNew(deps: NewDeps, post: GitHubPost, repo: WatchedRepo, signal: AbortSignal): Promise<boolean> {
  const edit = post.updatedAt === post.createdAt ? null : await lastEdit(deps, post, signal);
  if (edit === 'deleted') return false;
  const writtenAt = edit?.at ?? post.createdAt;
  if (isBefore(writtenAt, repo)) return false;
  if (edit !== null && edit.login?.toLowerCase() !== post.by?.login.toLowerCase()) {
    deps.log('warn', 'a mention is ignored because someone other than its author edited it', {
      place: toTarget(post.place),
      by: edit.login,
    });
    return false;
  }
  return !(await deps.isAnswered(post.place, post.name, post.createdAt, signal));
}

async function lastEdit({ api }: NewDeps, { node }: GitHubPost, signal: AbortSignal) {
  try {
    return await api.lastEdit(node, signal);
  } catch (error) {
    if (isGone(error)) return 'deleted';
    throw error;
  }
}

/** Whether it is older than the watch. GitHub's times have whole seconds; those of compatible servers may have fractions. */
export const isBefore = (time: string, { since }: WatchedRepo): boolean => wholeSecond(time) < wholeSecond(since);
const wholeSecond = (time: string): string => time.replace(/\.\d+Z$/, 'Z');
