import type { PlatformFault } from '../chat-platform/platform-faults.ts';

/** A fault of a call: as on any platform, or a rate limit that was not exceeded. */
export type GitHubFault = PlatformFault | { limit: 'secondary' | 'primary'; retryAfterS: number };

export type GitHubRequest = { method: string; path: string };
export type ChooseGitHubFault = (request: GitHubRequest) => GitHubFault | undefined;

export const isLimit = (fault: GitHubFault | undefined): fault is Extract<GitHubFault, { limit: string }> =>
  typeof fault === 'object' && 'limit' in fault;

/** The shares of requests with a fault, from 0 to 1. */
export type GitHubFaultShares = {
  cutBefore: number;
  cutAfter: number;
  errorBefore: number;
  errorAfter: number;
  slow: number;
  limit: number;
};

/** Random faults, as of networks and busy platforms. */
export function randomGitHubFaults(random: () => number, shares: Partial<GitHubFaultShares>, retryAfterS = 1): ChooseGitHubFault {
  const kinds: [number | undefined, GitHubFault][] = [
    [shares.cutBefore, 'cut before'],
    [shares.cutAfter, 'cut after'],
    [shares.errorBefore, { status: 502, when: 'before' }],
    [shares.errorAfter, { status: 502, when: 'after' }],
    [shares.slow, { slowMs: 50 }],
    [shares.limit, { limit: 'secondary', retryAfterS }],
  ];
  return () => {
    let luck = random();
    return kinds.find(([share = 0]) => (luck -= share) < 0)?.[1];
  };
}
