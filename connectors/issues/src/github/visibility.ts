import type { StartContext } from '@svc/connector-kit';
import { repoName } from '../outgoing/issue-place.ts';
import type { WatchedRepo } from './find-account.ts';
import type { GitHubApi } from './github-api.ts';

type Deps = Pick<StartContext, 'log'> & { api: Pick<GitHubApi, 'read'> };

/** Whether a repository was made public or private since it was last looked at, and so who can read an answer. Its entry follows. */
export async function hasChangedVisibility({ api, log }: Deps, repo: WatchedRepo, signal: AbortSignal): Promise<boolean> {
  const found = await api.read('GET /repos/{owner}/{repo}', { owner: repo.owner, repo: repo.repo }, signal);
  const isPrivate = found?.data.private !== false;
  if (isPrivate === repo.isPrivate) return false;
  repo.isPrivate = isPrivate;
  log('info', 'the visibility of a repository has changed', { repo: repoName(repo), is_private: isPrivate });
  return true;
}
