import type { SecretEntry, SecretList, SecretPlace, SecretUser } from '@svc/contract/secret.ts';
import { relativeTime } from '../../../parts/format.ts';
import type { StatusKind } from '../../../parts/status.tsx';
import { tierWords } from '../../people/trust-words.ts';

const placeWords: Record<SecretPlace, string> = {
  vault: 'in the vault',
  environment: 'in the environment',
  file: 'in the secrets file',
  command: 'from the command',
};
const kindWords: Record<SecretUser['kind'], string> = {
  connector: 'channel',
  engine: 'engine',
  tool_server: 'tool server',
  setting: 'setting',
};

/** Where a secret lies, in the words of its state. */
export function stateOf(
  { places: [place], waits }: SecretEntry,
  { fault }: SecretList['vault'],
): { kind: StatusKind; words: string } {
  if (place !== undefined) return { kind: 'ok', words: placeWords[place] };
  if (waits) return { kind: 'warn', words: 'waits for the vault' };
  return fault === null ? { kind: 'bad', words: 'not set' } : { kind: 'warn', words: 'perhaps in the vault' };
}

/** What else is known of it. */
export const factsOf = ({ places, min_trust: tier, updated_at: at }: SecretEntry): string =>
  [
    ...(tier === null ? [] : [tier === 'SACRED' ? 'for the owner alone' : `for ${tierWords[tier]} and above`]),
    ...(at === null ? [] : [`set ${relativeTime(at)}`]),
    ...places.slice(1).map((place) => `also ${placeWords[place]}, where it is not used`),
  ].join(' · ');

/** "Anna's bot (channel), bank (tool server)". */
export const usersOf = (users: readonly SecretUser[]): string =>
  users.map(({ kind, name }) => `${name} (${kindWords[kind]})`).join(', ');

/** From where a secret can be taken away by the dashboard; null: from nowhere. `both`: from vault and file. */
export function removableFrom({ places }: SecretEntry): 'vault' | 'file' | 'both' | null {
  const [inVault, inFile] = [places.includes('vault'), places.includes('file')];
  if (inVault && inFile) return 'both';
  return inVault ? 'vault' : inFile ? 'file' : null;
}
