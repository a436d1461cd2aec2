import { textInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import type { TurnDeps } from '../turn-deps.ts';
import { turnRedactor } from '../turn-redactor.ts';
import type { Turn } from '../turn.ts';

type Deps = Pick<TurnDeps, 'knownSecrets'>;

/**
 * The last step: the reply as it may leave, with the secrets known by now. A text that was masked piece by piece while
 * it streamed is masked as a whole once more when a secret became known meanwhile; a long one takes a promise.
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
