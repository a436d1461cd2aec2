import { t } from '@svc/chat-ui/language/t.ts';
import type { SecretEntry, SecretList, SecretPlace, SecretUser } from '@svc/contract/secret.ts';
import type { Tier } from '@svc/contract/trust.ts';
import { relativeTime } from '../../../parts/format.ts';
import type { StatusKind } from '../../../parts/status.tsx';
import { tierWords } from '../../people/trust-words.ts';

/** The tiers that a secret may require, and a reader of the vault may have. */
export const offeredTiers = ['SACRED', 'TRUSTED', 'KNOWN', 'GUEST'] as const satisfies readonly Tier[];

const placeWords: Record<SecretPlace, string> = {
  vault: t('in the vault'),
  environment: t('in the environment'),
  file: t('in the secrets file'),
  command: t('from the command'),
};
/** Which secrets a reader of a tier gets. */
export const readableSecretsWords: Record<Tier, string> = {
  SACRED: t('every secret'),
  TRUSTED: t('all but those for the owner only'),
  KNOWN: t('those for known people and guests'),
  GUEST: t('those for guests only'),
  UNKNOWN: t('only those that need no trust'),
  BLOCKED: t('none'),
};
const kindWords: Record<SecretUser['kind'], string> = {
  connector: t('channel'),
  engine: t('engine'),
  tool_server: t('tool server'),
  setting: t('setting'),
};

/** Display texts for where a secret is stored. */
export function stateOf(
  { places: [place], waits }: SecretEntry,
  { fault }: SecretList['vault'],
): { kind: StatusKind; words: string } {
  if (place !== undefined) return { kind: 'ok', words: placeWords[place] };
  if (waits) return { kind: 'warn', words: t('waits for the vault') };
  return fault === null ? { kind: 'bad', words: t('not set') } : { kind: 'warn', words: t('may be in the vault') };
}

/** More facts about a secret. */
export const factsOf = ({ places, min_trust: tier, updated_at: at }: SecretEntry): string =>
  [
    ...(tier === null
      ? []
      : [tier === 'SACRED' ? t('for the owner alone') : t('for {tier} and above', { tier: tierWords[tier] })]),
    ...(at === null ? [] : [t('set {when}', { when: relativeTime(at) })]),
    ...places.slice(1).map((place) => t('also {place}, where it is not used', { place: placeWords[place] })),
  ].join(' · ');

/** "Anna's bot (channel), bank (tool server)". */
export const usersOf = (users: readonly SecretUser[]): string =>
  users.map(({ kind, name }) => `${name} (${kindWords[kind]})`).join(', ');

/** Where the dashboard can delete a secret; null: nowhere. `both`: from vault and file. */
export function removableFrom({ places }: SecretEntry): 'vault' | 'file' | 'both' | null {
  const [inVault, inFile] = [places.includes('vault'), places.includes('file')];
  if (inVault && inFile) return 'both';
  return inVault ? 'vault' : inFile ? 'file' : null;
}
