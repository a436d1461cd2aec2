import type { CoreApi, Identity } from '@svc/connector-kit';
import { issueKey } from '@svc/connector-kit/conversation-key.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import type { WatchedRepo } from '../github/find-account.ts';
import type { GitHubApi } from '../github/github-api.ts';
import { repoName, toTarget } from '../outgoing/issue-place.ts';
import { pageSize } from './follow-feed.ts';
import { postOfComment, postOfIssue, lists, type GitHubPost } from './github-post.ts';
import { isCall, type TakeDeps } from './take-post.ts';
import { whoAsks } from './who-asks.ts';

type Deps = Pick<TakeDeps, 'own' | 'config' | 'isMentioned' | 'instanceId'> & { api: GitHubApi; core: Pick<CoreApi, 'resolve'> };

const dayMs = 24 * 3600_000;
const mostShown = 10;
/** Pages that are read of each list. A day with more is counted only that far. */
const mostPages = 5;

/**
 * For a newly watched repository, what would have been answered in the last day: the number, and one line for each of the
 * latest.
 */
export async function firstLook(deps: Deps, repo: WatchedRepo, signal: AbortSignal): Promise<string[]> {
  const since = new Date(Date.parse(repo.since) - dayMs).toISOString();
  const { comments, issues } = lists(deps.api, repo);
  const isOne = (one: GitHubPost) => one.createdAt >= since && isCall(deps, one);
  const found = await Promise.all([
    readCalls(
      (page) => comments({ since, page, etag: null }, signal),
      (one) => postOfComment(repo, one),
      isOne,
    ),
    readCalls(
      (page) => issues({ since, page, etag: null }, signal),
      (one) => postOfIssue(repo, one),
      isOne,
    ),
  ]);
  const mentions = found.flatMap(({ calls }) => calls).toSorted((a, b) => a.createdAt.localeCompare(b.createdAt));
  const lines = await Promise.all(mentions.slice(-mostShown).map((one) => lineOf(deps, repo, one)));
  const least = found.every(({ isWhole }) => isWhole) ? '' : 'at least ';
  const last = mentions.length > mostShown ? ` The last ${mostShown}:` : '';
  const head = `In the last day it was called ${least}${mentions.length} ${mentions.length === 1 ? 'time' : 'times'} in ${repoName(repo)}.${last}`;
  return lines.length === 0 ? [head] : [head, ...lines];
}

/**
 * The posts of a list that mention us, read page by page, so that the others are not kept in memory. `isWhole`: the list was
 * read to its end.
 */
async function readCalls<T>(
  list: (page: number) => Promise<{ entries: readonly T[] } | null>,
  toPost: (entry: T) => GitHubPost | null,
  isOne: (post: GitHubPost) => boolean,
): Promise<{ calls: GitHubPost[]; isWhole: boolean }> {
  const calls: GitHubPost[] = [];
  for (let page = 1; page <= mostPages; page++) {
    const entries = (await list(page))?.entries ?? [];
    calls.push(
      ...entries
        .map(toPost)
        .filter((post) => post !== null)
        .filter(isOne),
    );
    if (entries.length < pageSize) return { calls, isWhole: true };
  }
  return { calls, isWhole: false };
}

async function lineOf({ core, instanceId }: Deps, repo: WatchedRepo, post: GitHubPost): Promise<string> {
  const conversation_key = issueKey(instanceId, repoName(repo), post.place.issue_number);
  const asker = await whoAsks(core, post, { conversation_key, public: !repo.isPrivate });
  const why = asker === null ? 'a deleted account' : whyNot(asker.identity);
  const words = cutText(post.body.replaceAll(/\s+/g, ' '), 60);
  return `  ${why === null ? 'answered' : 'not answered'}: ${toTarget(post.place)}, ${post.by?.login}${why === null ? '' : ` (${why})`}: "${words}"`;
}

/** Null for a person who would be answered. */
const whyNot = ({ denied, denial, reason }: Identity): string | null =>
  !denied ? null : denial === 'unknown_sender' ? 'not known' : cutText(reason, 100);
