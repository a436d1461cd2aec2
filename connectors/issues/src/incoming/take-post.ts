import type { Ingress } from '@svc/connector-kit';
import type { WatchedRepo } from '../github/find-account.ts';
import { toTarget } from '../outgoing/issue-place.ts';
import type { GitHubPost } from './github-post.ts';
import { toEnvelope, type EnvelopeDeps } from './to-envelope.ts';

export type TakeDeps = EnvelopeDeps & {
  ingress: Pick<Ingress, 'take'>;
  /** Our own account. */
  own: { id: number; login: string };
  isMentioned(text: string): boolean;
};

/** Whether a post mentions us, judged by the post alone. */
export function isCall(
  { own, config, isMentioned }: Pick<TakeDeps, 'own' | 'config' | 'isMentioned'>,
  { by, body }: GitHubPost,
): boolean {
  if (by === null || by.id === own.id || by.login.toLowerCase() === own.login.toLowerCase()) return false;
  const isBot = by.isBot || by.login.endsWith('[bot]');
  if (isBot && !config.allowed_bots.some((one) => one.toLowerCase() === by.login.toLowerCase())) return false;
  return isMentioned(body);
}

/** Takes a new or edited post, if it mentions us. */
export async function takePost(deps: TakeDeps, post: GitHubPost | null, repo: WatchedRepo): Promise<void> {
  if (post === null || !isCall(deps, post)) return;
  await deps.ingress.take(toTarget(post.place), post.name, (signal) => toEnvelope(deps, post, repo, signal));
}
