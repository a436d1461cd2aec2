import type { VaultAccess, VaultAgent, VaultCredential, VaultState } from '@svc/contract/vault.ts';
import { visibleLine, type Style } from '../terminal.ts';
import { tierWord } from '../tier-words.ts';

const date = (at: number): string => new Date(at).toISOString().replace('T', ' ').slice(0, 16);

export function renderState(url: string, { initialized, sealed }: VaultState, style: Style): string {
  if (!initialized) return `The vault at ${url} is ${style.yellow('not set up')}. ./svc vault init does it.`;
  return sealed
    ? `The vault at ${url} is ${style.yellow('sealed')}. ./svc vault unseal opens it.`
    : `The vault at ${url} is ${style.green('open')}.`;
}

export function renderCredentials(credentials: readonly VaultCredential[], style: Style): string {
  if (credentials.length === 0) return 'The vault holds no secrets. ./svc vault put NAME stores one.';
  return credentials
    .map(
      ({ name, min_trust, version, updated_at }) =>
        `  ${name.padEnd(32)} ${tierWord(min_trust).padEnd(8)} ${style.dim(`version ${version}, ${date(updated_at)}`)}`,
    )
    .join('\n');
}

export function renderAgents(agents: readonly VaultAgent[], style: Style): string {
  if (agents.length === 0) return 'The vault knows no agents. ./svc vault agent add NAME --tier TIER registers one.';
  return agents
    .map(({ name, tier, created_at, revoked_at }) => {
      const since = revoked_at === null ? style.dim(`since ${date(created_at)}`) : style.red(`revoked ${date(revoked_at)}`);
      return `  ${name.padEnd(32)} ${tierWord(tier).padEnd(8)} ${since}`;
    })
    .join('\n');
}

export const renderAccesses = (accesses: readonly VaultAccess[], style: Style): string =>
  accesses
    .toReversed()
    .map(({ at, actor, action, target, outcome, detail }) => {
      const end = outcome === 'ok' ? style.green('ok') : style.red(`${outcome}${detail === null ? '' : ` (${detail})`}`);
      return `  ${date(at)}  ${actor.padEnd(16)} ${action.padEnd(18)} ${visibleLine(target ?? '').padEnd(24)} ${end}`;
    })
    .join('\n');
