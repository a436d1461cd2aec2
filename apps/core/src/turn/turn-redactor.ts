import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import type { TurnDeps } from './turn-deps.ts';
import type { Turn } from './turn.ts';

/**
 * The redactor for what one turn shows: stricter on a public surface. It stays the same object until a secret becomes known.
 * @throws when the list of secrets cannot be read: redaction failing means nothing is sent.
 */
export function turnRedactor({ knownSecrets }: Pick<TurnDeps, 'knownSecrets'>, { envelope }: Pick<Turn, 'envelope'>): Redactor {
  const redactor = knownSecrets.redactor();
  return envelope.public === true ? redactor.forPublic : redactor;
}
