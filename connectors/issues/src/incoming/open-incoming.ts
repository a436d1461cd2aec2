import type { Clock, StartContext } from '@svc/connector-kit';
import { stateBelow } from '@svc/connector-kit/state/state-below.ts';
import { feedKey, type WatchedRepo } from '../github/find-account.ts';
import type { GitHubApi } from '../github/github-api.ts';
import type { Config } from '../meta.ts';
import { repoName } from '../outgoing/issue-place.ts';
import { followFeed, type Feed } from './follow-feed.ts';
import { postOfComment, postOfIssue, lists, type GitHubComment, type GitHubIssue } from './github-post.ts';
import { takePost, type TakeDeps } from './take-post.ts';

type Deps = TakeDeps & { api: GitHubApi; clock: Clock; repos: readonly WatchedRepo[] };

/** All that comes in. */
export type IncomingChannel = {
  problem(): string | null;
  /** Polls a repository now; by its full name. */
  look(repository: string): void;
  /** Resolves when all feeds have ended, after `ctx.signal` has aborted. */
  ended: Promise<unknown>;
};

export function openIncoming(ctx: StartContext<Config>, { repos, clock, ...deps }: Deps): IncomingChannel {
  const { config, log, signal, state } = ctx;
  const problems = new Map<string, string>();
  const feeds: { repo: WatchedRepo; feed: Feed }[] = [];

  for (const repo of repos) {
    const { comments, issues } = lists(deps.api, repo);
    const shared = (kind: 'comments' | 'issues') => ({
      since: repo.since,
      everyMs: config.poll_interval_ms,
      clock,
      state: stateBelow(state, feedKey(kind, repoName(repo))),
      log,
      signal,
      onProblem(problem: string | null) {
        const name = `${kind} of ${repoName(repo)}`;
        if (problem === null) problems.delete(name);
        else problems.set(name, `${repoName(repo)}: ${problem}`);
      },
    });
    const own = (feed: Feed) => void feeds.push({ repo, feed });
    own(
      followFeed<GitHubComment>({
        ...shared('comments'),
        list: comments,
        take: (one) => takePost(deps, postOfComment(repo, one), repo),
      }),
    );
    own(
      followFeed<GitHubIssue>({ ...shared('issues'), list: issues, take: (one) => takePost(deps, postOfIssue(repo, one), repo) }),
    );
  }

  return {
    problem: () => problems.values().next().value ?? null,
    look(repository) {
      for (const { repo, feed } of feeds) if (repoName(repo).toLowerCase() === repository.toLowerCase()) feed.look();
    },
    ended: Promise.all(feeds.map(({ feed }) => feed.ended)),
  };
}
