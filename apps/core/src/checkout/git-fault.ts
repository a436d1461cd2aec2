import { ServiceError, unavailable, upstream } from '@svc/service-kit/service-error.ts';
import type { GitEnd } from './run-git.ts';

/** Why a checkout failed. */
export type GitFault =
  | { why: 'no_git' | 'refused' | 'not_found' | 'no_ref' | 'moved' | 'unreachable' | 'too_late' | 'failed'; text: string }
  | { why: 'too_large'; text: string };

const signs: readonly [RegExp, Exclude<GitFault['why'], 'too_large'>][] = [
  [/Authentication failed|could not read (Username|Password)|terminal prompts disabled|error: (401|403)/i, 'refused'],
  [/update url base from redirection|error: 30\d/i, 'moved'],
  [/couldn't find remote ref|not our ref|unadvertised object|no such remote ref/i, 'no_ref'],
  [
    /repository .*not found|does not appear to be a git repository|access denied or repository not exported|error: 404/i,
    'not_found',
  ],
  [
    /Could not resolve|Failed to connect|Connection (refused|timed out|reset)|unable to connect|early EOF|hung up/i,
    'unreachable',
  ],
];

/** Why a git call failed, by its output in the C locale. */
export function readFault({ ending, code, stderr }: GitEnd): GitFault {
  if (ending === 'not_started') return { why: 'no_git', text: stderr };
  if (ending === 'too_hungry') return { why: 'too_large', text: 'git would need more than 1 GB of memory for it' };
  if (ending === 'stopped') return { why: 'failed', text: 'the service is stopping' };
  if (ending === 'too_late') return { why: 'too_late', text: '' };
  if (code === null) return { why: 'failed', text: 'git was ended by a signal; perhaps the machine has too little memory' };
  const why = signs.find(([sign]) => sign.test(stderr))?.[1] ?? 'failed';
  // The server's text is reduced to printable characters.
  const last = stderr.trim().split('\n').at(-1) ?? '';
  return { why, text: last.replaceAll(/\p{Cc}/gu, ' ').slice(0, 300) };
}

/** The same as an error for the caller. */
export function faultError(fault: GitFault, { url, ref }: { url: string; ref: string | null }): ServiceError {
  switch (fault.why) {
    case 'no_git':
      return unavailable(`git cannot be run on this machine (${fault.text}). Install it: apt-get install git.`);
    case 'refused':
      return new ServiceError(
        'unprocessable',
        `${url} was refused: there is no such repository, or the credential has no access to it. Name a secret that has access as "credential".`,
      );
    case 'not_found':
      return new ServiceError('unprocessable', `${url} is not a repository, or the credential has no access to it.`);
    case 'no_ref':
      return new ServiceError('unprocessable', `${url} has no branch, tag or commit "${ref ?? 'HEAD'}".`);
    case 'moved':
      return new ServiceError(
        'unprocessable',
        `${url} redirects to another address, which is not followed. Use the current address.`,
      );
    case 'too_large':
      return new ServiceError('too_large', `${url} is too large: ${fault.text}.`);
    case 'unreachable':
      return upstream(`${url} cannot be reached: ${fault.text}.`);
    case 'too_late':
      return upstream(`${url} took too long to fetch. Try again later.`);
    case 'failed':
      return upstream(`${url} could not be checked out: ${fault.text}.`);
  }
}
