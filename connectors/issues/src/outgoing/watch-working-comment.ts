import { errorText, type Clock, type StartContext } from '@svc/connector-kit';
import type { GitHubApi } from '../github/github-api.ts';
import type { Repo } from '../meta.ts';

export type WatchDeps = Pick<StartContext, 'log' | 'signal'> & {
  api: Pick<GitHubApi, 'read'>;
  clock: Clock;
  /** Between two looks, ms. */
  everyMs: number;
  isRunning(name: string): boolean;
  gone(name: string): void;
};

/** A comment of ours, and the name of what it answers. */
export type WorkingComment = Repo & { comment_id: number; about: string };

/**
 * Checks regularly whether the comment that shows a running turn still exists. A turn that writes nothing for minutes would
 * otherwise notice only at its end that its comment was deleted.
 */
export function watchWorkingComment(deps: WatchDeps, { about, ...comment }: WorkingComment): void {
  const { api, clock, everyMs, signal, log } = deps;
  const look = async (): Promise<void> => {
    if (signal.aborted || !deps.isRunning(about)) return;
    try {
      await api.read('GET /repos/{owner}/{repo}/issues/comments/{comment_id}', comment, signal);
    } catch (error) {
      if (isGone(error)) return deps.gone(about);
      log('debug', 'the comment of a turn could not be checked', { error: errorText(error) });
    }
    again();
  };
  // `look` does not reject.
  const again = (): void => void clock.after(everyMs, () => void look());
  again();
}

/** Whether GitHub said that it does not have it. */
export const isGone = (error: unknown): boolean => error instanceof Error && (error as { code?: unknown }).code === 'not_found';
