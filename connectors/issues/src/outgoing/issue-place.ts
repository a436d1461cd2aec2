import { ServiceError } from '@svc/connector-kit';
import type { Repo } from '../meta.ts';

/** An issue or a pull request. As a target it is `owner/repo#12`. */
export type IssuePlace = Repo & { issue_number: number };

export const repoName = ({ owner, repo }: Repo): string => `${owner}/${repo}`;
export const toTarget = (place: IssuePlace): string => `${repoName(place)}#${place.issue_number}`;

/** The repository as it is configured, so that one place has one name. @throws ServiceError for another one */
export function placeOf(target: string, repos: readonly Repo[]): IssuePlace {
  const [, owner = '', repo = '', number = ''] = /^([\w.-]{1,100})\/([\w.-]{1,100})#([1-9]\d{0,9})$/.exec(target) ?? [];
  const isSame = (one: Repo) => repoName(one).toLowerCase() === `${owner}/${repo}`.toLowerCase();
  const known = repos.find(isSame);
  if (known === undefined)
    throw new ServiceError('unprocessable', `"${target}" is not an issue of a watched repository. Use owner/repo#12.`);
  return { owner: known.owner, repo: known.repo, issue_number: Number(number) };
}
