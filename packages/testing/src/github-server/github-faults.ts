import type { PlatformFault } from '../chat-platform/platform-faults.ts';

/** What goes wrong with a call: as on any platform, or a limit that no count of ours passed. */
export type GitHubFault = PlatformFault | { limit: 'secondary' | 'primary'; retryAfterS: number };

export type GitHubRequest = { method: string; path: string };
export type ChooseGitHubFault = (request: GitHubRequest) => GitHubFault | undefined;

export const isLimit = (fault: GitHubFault | undefined): fault is Extract<GitHubFault, { limit: string }> =>
  typeof fault === 'object' && 'limit' in fault;

/** Shares of requests that go wrong, from 0 to 1. */
export type GitHubFaultShares = {
  cutBefore: number;
  cutAfter: number;
  errorBefore: number;
  errorAfter: number;
  slow: number;
  limit: number;
};

/** Faults by chance, as networks and busy platforms have them. */
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
