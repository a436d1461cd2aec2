import type { Ingress } from '@svc/connector-kit';
import type { WatchedRepo } from '../github/find-account.ts';
import { toTarget } from '../outgoing/issue-place.ts';
import type { Said } from './said.ts';
import { toEnvelope, type EnvelopeDeps } from './to-envelope.ts';

export type TakeDeps = EnvelopeDeps & {
  ingress: Pick<Ingress, 'take'>;
  /** Our own account. */
  own: { id: number; login: string };
  isMentioned(text: string): boolean;
};

/** Whether something that was said calls us, as far as can be seen of it alone. */
export function isCall(
  { own, config, isMentioned }: Pick<TakeDeps, 'own' | 'config' | 'isMentioned'>,
  { by, body }: Said,
): boolean {
  if (by === null || by.id === own.id || by.login.toLowerCase() === own.login.toLowerCase()) return false;
  const isBot = by.isBot || by.login.endsWith('[bot]');
  if (isBot && !config.allowed_bots.some((one) => one.toLowerCase() === by.login.toLowerCase())) return false;
  return isMentioned(body);
}

/** Takes what was said or changed, once for each thing that calls us. */
export async function takeSaid(deps: TakeDeps, said: Said | null, repo: WatchedRepo): Promise<void> {
  if (said === null || !isCall(deps, said)) return;
  await deps.ingress.take(toTarget(said.place), said.name, (signal) => toEnvelope(deps, said, repo, signal));
}
