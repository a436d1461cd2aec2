import type { CoreApi, Identity } from '@svc/connector-kit';
import { issueKey } from '@svc/connector-kit/conversation-key.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import type { WatchedRepo } from '../github/find-account.ts';
import type { GitHubApi } from '../github/github-api.ts';
import { repoName, toTarget } from '../outgoing/issue-place.ts';
import { pageSize } from './follow-feed.ts';
import { commentSaid, issueSaid, lists, type Said } from './said.ts';
import { isCall, type TakeDeps } from './take-said.ts';
import { whoAsks } from './who-asks.ts';

type Deps = Pick<TakeDeps, 'own' | 'config' | 'isMentioned' | 'instanceId'> & { api: GitHubApi; core: Pick<CoreApi, 'resolve'> };

const dayMs = 24 * 3600_000;
const mostShown = 10;
/** Of each list. A day that fills more is counted as far as was read. */
const mostPages = 5;

/** What would have been answered in the last day in a repository that is watched for the first time: how much, and the last ones, a line each. */
export async function firstLook(deps: Deps, repo: WatchedRepo, signal: AbortSignal): Promise<string[]> {
  const since = new Date(Date.parse(repo.since) - dayMs).toISOString();
  const { comments, issues } = lists(deps.api, repo);
  const isOne = (one: Said) => one.createdAt >= since && isCall(deps, one);
  const found = await Promise.all([
    readCalls(
      (page) => comments({ since, page, etag: null }, signal),
      (one) => commentSaid(repo, one),
      isOne,
    ),
    readCalls(
      (page) => issues({ since, page, etag: null }, signal),
      (one) => issueSaid(repo, one),
      isOne,
    ),
  ]);
  const said = found.flatMap(({ calls }) => calls).toSorted((a, b) => a.createdAt.localeCompare(b.createdAt));
  const lines = await Promise.all(said.slice(-mostShown).map((one) => lineOf(deps, repo, one)));
  const least = found.every(({ isWhole }) => isWhole) ? '' : 'at least ';
  const last = said.length > mostShown ? ` The last ${mostShown}:` : '';
  const head = `In the last day it was called ${least}${said.length} ${said.length === 1 ? 'time' : 'times'} in ${repoName(repo)}.${last}`;
  return lines.length === 0 ? [head] : [head, ...lines];
}

/** What calls us in a list, page by page, so that what does not is not held. `isWhole`: there is no more. */
async function readCalls<T>(
  list: (page: number) => Promise<{ entries: readonly T[] } | null>,
  toSaid: (entry: T) => Said | null,
  isOne: (said: Said) => boolean,
): Promise<{ calls: Said[]; isWhole: boolean }> {
  const calls: Said[] = [];
  for (let page = 1; page <= mostPages; page++) {
    const entries = (await list(page))?.entries ?? [];
    calls.push(
      ...entries
        .map(toSaid)
        .filter((said) => said !== null)
        .filter(isOne),
    );
    if (entries.length < pageSize) return { calls, isWhole: true };
  }
  return { calls, isWhole: false };
}

async function lineOf({ core, instanceId }: Deps, repo: WatchedRepo, said: Said): Promise<string> {
  const conversation_key = issueKey(instanceId, repoName(repo), said.place.issue_number);
  const asker = await whoAsks(core, said, { conversation_key, public: !repo.isPrivate });
  const why = asker === null ? 'a deleted account' : whyNot(asker.identity);
  const words = cutText(said.body.replaceAll(/\s+/g, ' '), 60);
  return `  ${why === null ? 'answered' : 'not answered'}: ${toTarget(said.place)}, ${said.by?.login}${why === null ? '' : ` (${why})`}: "${words}"`;
}

/** Null for whom would be answered. */
const whyNot = ({ denied, denial, reason }: Identity): string | null =>
  !denied ? null : denial === 'unknown_sender' ? 'not known' : cutText(reason, 100);
