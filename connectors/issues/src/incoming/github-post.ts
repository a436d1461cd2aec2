import type { GitHubApi, Got } from '../github/github-api.ts';
import type { Repo } from '../meta.ts';
import type { IssuePlace } from '../outgoing/issue-place.ts';

export type GitHubIssue = Got<'GET /repos/{owner}/{repo}/issues'>['data'][number];
export type GitHubComment = Got<'GET /repos/{owner}/{repo}/issues/comments'>['data'][number];

/** A comment, or the text of an issue or pull request. Times are as GitHub writes them. */
export type GitHubPost = {
  /** Its message id for the core, which an edit does not change. */
  name: string;
  kind: 'comment' | 'issue';
  id: number;
  node: string;
  place: IssuePlace;
  isPull: boolean;
  /** Null when the account was deleted. */
  by: { id: number; login: string; isBot: boolean } | null;
  association: string;
  body: string;
  createdAt: string;
  updatedAt: string;
};

/** Null when the comment names no issue. */
export function postOfComment(repo: Repo, comment: GitHubComment): GitHubPost | null {
  const number = Number(/\/issues\/(\d+)$/.exec(comment.issue_url)?.[1]);
  if (!Number.isSafeInteger(number)) return null;
  return {
    name: `comment-${comment.id}`,
    kind: 'comment',
    id: Number(comment.id),
    node: comment.node_id,
    place: { owner: repo.owner, repo: repo.repo, issue_number: number },
    isPull: comment.html_url.includes('/pull/'),
    ...written(comment),
  };
}

export const postOfIssue = (repo: Repo, issue: GitHubIssue): GitHubPost => ({
  name: `issue-${issue.id}`,
  kind: 'issue',
  id: Number(issue.id),
  node: issue.node_id,
  place: { owner: repo.owner, repo: repo.repo, issue_number: issue.number },
  isPull: issue.pull_request != null,
  ...written(issue),
});

const written = (one: GitHubComment | GitHubIssue) => ({
  by: one.user == null ? null : { id: Number(one.user.id), login: one.user.login, isBot: one.user.type === 'Bot' },
  association: one.author_association ?? 'NONE',
  body: one.body ?? '',
  createdAt: one.created_at,
  updatedAt: one.updated_at,
});

/** The lists of changes in a repository, in the form that a feed needs. */
export const lists = (api: GitHubApi, { owner, repo }: Repo) => {
  const shared = { owner, repo, sort: 'updated', direction: 'asc', per_page: 100 } as const;
  const headersOf = (etag: string | null) => (etag === null ? {} : { headers: { 'if-none-match': etag } });
  type Query = { since: string; page: number; etag: string | null };
  return {
    async comments({ since, page, etag }: Query, signal: AbortSignal) {
      const query = { ...shared, since, page, ...headersOf(etag) };
      const got = await api.read('GET /repos/{owner}/{repo}/issues/comments', query, signal);
      return got === null ? null : { entries: got.data, etag: got.headers['etag'] ?? null };
    },
    async issues({ since, page, etag }: Query, signal: AbortSignal) {
      const query = { ...shared, state: 'open', since, page, ...headersOf(etag) } as const;
      const got = await api.read('GET /repos/{owner}/{repo}/issues', query, signal);
      return got === null ? null : { entries: got.data, etag: got.headers['etag'] ?? null };
    },
  };
};
