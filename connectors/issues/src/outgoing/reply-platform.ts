import type { ReplyPlatform } from '@svc/connector-kit';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import type { GitHubApi } from '../github/github-api.ts';
import type { Repo } from '../meta.ts';
import { aboutIn, markIn, withMark } from './comment-marks.ts';
import { placeOf, type IssuePlace } from './issue-place.ts';
import type { OwnComments } from './own-comments.ts';
import { safeText } from './safe-text.ts';
import { isGone, type WorkingComment } from './watch-working-comment.ts';

export type PlatformDeps = {
  api: Pick<GitHubApi, 'read' | 'write'>;
  repos: readonly Repo[];
  own: OwnComments;
  /** Who said what is answered, by its name. */
  addressed(name: string | undefined): string | null;
  /** The comment is gone that answers it. */
  gone(name: string | undefined): void;
  /** A comment was posted that answers it. */
  posted(comment: WorkingComment): void;
  /** Counts a comment. Rejects with `busy` when there were too many. */
  count(): Promise<void>;
};

const commentRoute = '/repos/{owner}/{repo}/issues/comments/{comment_id}';
/** GitHub's limit, in characters. */
const longestBody = 65_536;
/** GitHub was opened in that year: nothing is older. */
const oldest = '2008-01-01T00:00:00Z';

/** What can be done with comments. */
export function createReplyPlatform(deps: PlatformDeps): Required<Pick<ReplyPlatform, 'post' | 'edit' | 'remove' | 'find'>> {
  const { api, repos, own } = deps;
  /** Marks of comments that this process has written. */
  const marks = new Map<string, string>();
  const commentOf = (chat: string, id: string) => {
    const { owner, repo } = placeOf(chat, repos);
    return { owner, repo, comment_id: Number(id) };
  };

  async function markOf(chat: string, id: string, signal: AbortSignal): Promise<string> {
    const known = marks.get(id);
    if (known !== undefined) return known;
    const got = await api.read(`GET ${commentRoute}`, commentOf(chat, id), signal);
    return keep(id, markIn(got?.data.body ?? ''));
  }

  function keep(id: string, mark: string): string {
    marks.set(id, mark);
    forgetOldest(marks, 2000);
    return mark;
  }

  return {
    async post({ chat, text, nonce, about, signal }) {
      await deps.count();
      const body = withMark(bodyOf(text, deps.addressed(about)), nonce, about);
      const place = placeOf(chat, repos);
      const { id } = await api.write('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...place, body }, signal);
      keep(String(id), markIn(body));
      if (about !== undefined) deps.posted({ owner: place.owner, repo: place.repo, comment_id: Number(id), about });
      return String(id);
    },
    async edit({ chat, id, text, signal }) {
      const mark = await markOf(chat, id, signal);
      const body = bodyOf(text, deps.addressed(aboutIn(mark))) + mark;
      try {
        await api.write(`PATCH ${commentRoute}`, { ...commentOf(chat, id), body }, signal);
      } catch (error) {
        if (isGone(error)) deps.gone(aboutIn(mark));
        throw error;
      }
    },
    remove: ({ chat, id, signal }) => api.write(`DELETE ${commentRoute}`, commentOf(chat, id), signal),
    async find({ chat, nonce, after, signal }) {
      const place = placeOf(chat, repos);
      const found = await own.find(place, nonce, await timeOf(api, place, after, signal), signal);
      return found === null ? null : String(found);
    },
  };
}

/** What would be too long with all that keeps names apart has another sign in the place of "@". */
function bodyOf(text: string, addressed: string | null): string {
  const safe = safeText(text, addressed);
  return safe.length <= longestBody - 200 ? safe : safeText(text.replaceAll('@', '＠'), addressed);
}

/** When what is answered was said; where that is not known, the oldest time. */
async function timeOf(
  api: Pick<GitHubApi, 'read'>,
  place: IssuePlace,
  name: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const [, kind, id = ''] = /^(comment|issue)-(\d+)$/.exec(name ?? '') ?? [];
  if (kind === undefined) return oldest;
  try {
    const got =
      kind === 'comment'
        ? await api.read(`GET ${commentRoute}`, { owner: place.owner, repo: place.repo, comment_id: Number(id) }, signal)
        : await api.read('GET /repos/{owner}/{repo}/issues/{issue_number}', place, signal);
    return got?.data.created_at ?? oldest;
  } catch (error) {
    if (isGone(error)) return oldest;
    throw error;
  }
}
