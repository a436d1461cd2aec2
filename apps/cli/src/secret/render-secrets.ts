import type { SecretEntry, SecretList, SecretPlace } from '@svc/contract/secret.ts';
import { visibleLine, type Style } from '../terminal.ts';
import { tierWord } from '../tier-words.ts';

const placeWords: Record<SecretPlace, string> = {
  vault: 'vault',
  environment: 'environment',
  file: 'secrets file',
  command: 'command',
};

/** The names of all secrets, where each is stored and who uses it. */
export function renderSecrets({ secrets, vault, faults }: SecretList, style: Style): string {
  const width = Math.max(...secrets.map(({ name }) => visibleLine(name).length), 0);
  const lines = secrets.map((secret) =>
    [
      `  ${visibleLine(secret.name).padEnd(width)}`,
      placeOf(secret, vault.fault !== null, style),
      ...(secret.min_trust === null ? [] : [`for ${tierWord(secret.min_trust)}`]),
      ...(secret.used_by.length === 0 ? [] : [style.dim(secret.used_by.map(({ name }) => visibleLine(name)).join(', '))]),
    ].join('  '),
  );
  return [
    ...(lines.length === 0 ? ['There are none.'] : lines),
    ...[vault.fault, ...faults].flatMap((fault) => (fault === null ? [] : [style.yellow(`  ${visibleLine(fault)}`)])),
    '',
    style.dim('  ./svc secret set NAME   keeps one'),
  ].join('\n');
}

function placeOf({ places, waits }: SecretEntry, isVaultSilent: boolean, style: Style): string {
  if (places.length > 0) return places.map((place) => placeWords[place]).join(', ');
  if (waits) return style.yellow('waits for the vault');
  return isVaultSilent ? style.yellow('perhaps in the vault') : style.red('not set');
}

/** The same without a running service: the content of the secrets file. */
export const renderFile = (file: string, names: readonly string[], style: Style): string =>
  [
    ...(names.length === 0 ? [`There are none in ${file}.`] : names.map((name) => `  ${visibleLine(name)}`)),
    '',
    style.dim('  ./svc secret set NAME   keeps one'),
  ].join('\n');
