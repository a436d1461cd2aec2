import { textInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import type { TurnDeps } from '../turn-deps.ts';
import { turnRedactor } from '../turn-redactor.ts';
import type { Turn } from '../turn.ts';

type Deps = Pick<TurnDeps, 'knownSecrets'>;

/**
 * The last step: masks the reply with the secrets known by now. Text that was masked piece by piece while streaming is masked
 * again as a whole when a secret became known meanwhile. Returns a promise for a long text.
 */
export function redactReply(
  deps: Deps,
  turn: Pick<Turn, 'envelope'>,
  text: string,
  streamedWith: Redactor | null = null,
): string | Promise<string> {
  const redactor = turnRedactor(deps, turn);
  return redactor === streamedWith ? text : textInSlices(redactor, text);
}
