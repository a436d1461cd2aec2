import { cutText } from '@svc/service-kit/cut-text.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { StartContext } from '@svc/connector-kit';
import type { GitHubApi } from '../github/github-api.ts';
import { withoutHidden } from './is-mentioned.ts';
import type { GitHubPost } from './github-post.ts';

type Deps = { api: Pick<GitHubApi, 'read'>; log: StartContext['log'] };

/** How much of each is given, characters. */
const most = { body: 16_000, comment: 4000, comments: 40_000, patch: 8000, patches: 60_000, notes: 20_000 } as const;
const mostComments = 30;
const mostFiles = 100;

/**
 * The content of an issue or a pull request, one JSON value per line: text of others is inside JSON strings, so it cannot be
 * mistaken for our lines or for the request. Hidden text is left out.
 */
export async function issueContext({ api, log }: Deps, post: GitHubPost, signal: AbortSignal): Promise<string[]> {
  const { place, isPull } = post;
  const issue = await api.read('GET /repos/{owner}/{repo}/issues/{issue_number}', place, signal);
  const lines: object[] = [];
  if (issue !== null) {
    const { title, state, user, author_association, labels, body, comments } = issue.data;
    lines.push({
      [isPull ? 'pull_request' : 'issue']: place.issue_number,
      title,
      state,
      by: user?.login,
      association: author_association,
      labels: labels.map((one) => (typeof one === 'string' ? one : one.name)),
      ...(post.kind === 'comment' && { body: shown(body ?? '', most.body) }),
    });
    lines.push(...(await lastComments(api, post, comments, signal)));
  }
  if (isPull) lines.push(...(await changes(api, post, signal).catch((error: unknown) => left(log, error))));
  return lines.map((line) => JSON.stringify(line));
}

async function lastComments(api: Pick<GitHubApi, 'read'>, { place, id, kind }: GitHubPost, count: number, signal: AbortSignal) {
  const per_page = 100;
  const pages = [Math.ceil(count / per_page), Math.floor(count / per_page)].filter((page) => page > 0);
  const all = [];
  for (const page of [...new Set(pages)].toSorted((a, b) => a - b)) {
    const got = await api.read('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...place, per_page, page }, signal);
    all.push(...(got?.data ?? []));
  }
  const others = all.filter((one) => kind === 'issue' || one.id !== id).slice(-mostComments);
  return withinLength(
    others.map(({ user, author_association, body }) => ({
      comment_by: user?.login,
      association: author_association,
      text: shown(body ?? '', most.comment),
    })),
    most.comments,
  );
}

async function changes(api: Pick<GitHubApi, 'read'>, { place: { owner, repo, issue_number } }: GitHubPost, signal: AbortSignal) {
  const pull = { owner, repo, pull_number: issue_number, per_page: mostFiles };
  const [files, notes] = await Promise.all([
    api.read('GET /repos/{owner}/{repo}/pulls/{pull_number}/files', pull, signal),
    api.read('GET /repos/{owner}/{repo}/pulls/{pull_number}/comments', pull, signal),
  ]);
  const patches = (files?.data ?? []).map(({ filename, status, patch }) => ({
    file: filename,
    status,
    ...(patch !== undefined && { diff: cutText(patch, most.patch) }),
  }));
  const reviews = (notes?.data ?? []).map(({ user, path, line, body }) => ({
    review_comment_by: user?.login,
    file: path,
    line,
    text: shown(body, most.comment),
  }));
  return [...withinLength(patches.toReversed(), most.patches).toReversed(), ...withinLength(reviews, most.notes)];
}

/** The last ones, as many as fit. */
function withinLength<T extends object>(lines: readonly T[], chars: number): T[] {
  let left = chars;
  return lines
    .toReversed()
    .filter((line) => (left -= JSON.stringify(line).length) >= 0)
    .toReversed();
}

function left(log: StartContext['log'], error: unknown): object[] {
  log('warn', 'the changes of a pull request cannot be read', { error: errorText(error) });
  return [{ changes: 'could not be fetched' }];
}

const shown = (text: string, chars: number): string => cutText(withoutHidden(text).trim(), chars);
