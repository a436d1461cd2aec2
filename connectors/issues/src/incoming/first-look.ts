import type { CoreApi } from '@svc/connector-kit';
import { issueKey } from '@svc/connector-kit/conversation-key.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import type { WatchedRepo } from '../github/find-account.ts';
import type { GitHubApi } from '../github/github-api.ts';
import { repoName, toTarget } from '../outgoing/issue-place.ts';
import { commentSaid, issueSaid, lists, type Said } from './said.ts';
import { isCall, type TakeDeps } from './take-said.ts';
import { whoAsks } from './who-asks.ts';

type Deps = Pick<TakeDeps, 'own' | 'config' | 'isMentioned' | 'instanceId'> & { api: GitHubApi; core: Pick<CoreApi, 'resolve'> };

const dayMs = 24 * 3600_000;
const mostShown = 10;

/** What would have been answered in the last day in a repository that is watched for the first time, a line each. */
export async function firstLook(deps: Deps, repo: WatchedRepo, signal: AbortSignal): Promise<string[]> {
  const since = new Date(Date.parse(repo.since) - dayMs).toISOString();
  const { comments, issues } = lists(deps.api, repo);
  const query = { since, page: 1, etag: null };
  const said = [
    ...((await comments(query, signal))?.entries ?? []).flatMap((one) => commentSaid(repo, one) ?? []),
    ...((await issues(query, signal))?.entries ?? []).map((one) => issueSaid(repo, one)),
  ].filter((one) => one.createdAt >= since && isCall(deps, one));
  const lines = await Promise.all(said.slice(-mostShown).map((one) => lineOf(deps, repo, one)));
  const head = `In the last day it was called ${said.length} times in ${repoName(repo)}.`;
  return lines.length === 0 ? [head] : [head, ...lines];
}

async function lineOf({ core, instanceId }: Deps, repo: WatchedRepo, said: Said): Promise<string> {
  const conversation_key = issueKey(instanceId, repoName(repo), said.place.issue_number);
  const asker = await whoAsks(core, said, { conversation_key, public: !repo.isPrivate });
  const isAnswered = asker !== null && !asker.identity.denied;
  const words = cutText(said.body.replaceAll(/\s+/g, ' '), 60);
  return `  ${isAnswered ? 'answered' : 'not answered'}: ${toTarget(said.place)}, ${said.by?.login}${isAnswered ? '' : ' (not known)'}: "${words}"`;
}
