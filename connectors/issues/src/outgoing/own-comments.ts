import type { GitHubApi } from '../github/github-api.ts';
import { aboutIn, hasNonce } from './comment-marks.ts';
import type { IssuePlace } from './issue-place.ts';

/** Comments of our own account, as they are on GitHub. */
export type OwnComments = {
  /** The id of the one with a nonce. `since`: it is not older. */
  find(place: IssuePlace, nonce: string, since: string, signal: AbortSignal): Promise<number | null>;
  /** Whether something is answered, or about to be. */
  isAnswered(place: IssuePlace, name: string, since: string, signal: AbortSignal): Promise<boolean>;
};

const perPage = 100;
const mostPages = 50;

export function createOwnComments(api: Pick<GitHubApi, 'read'>, ownId: number): OwnComments {
  async function look(
    place: IssuePlace,
    since: string,
    isIt: (body: string) => boolean,
    signal: AbortSignal,
  ): Promise<number | null> {
    for (let page = 1; page <= mostPages; page++) {
      const query = { ...place, since, per_page: perPage, page };
      const got = await api.read('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', query, signal);
      const comments = got?.data ?? [];
      const found = comments.find(({ user, body }) => Number(user?.id) === ownId && isIt(body ?? ''));
      if (found !== undefined) return Number(found.id);
      if (comments.length < perPage) return null;
    }
    return null;
  }
  return {
    find: (place, nonce, since, signal) => look(place, since, (body) => hasNonce(body, nonce), signal),
    isAnswered: async (place, name, since, signal) =>
      (await look(place, since, (body) => aboutIn(body) === name, signal)) !== null,
  };
}
