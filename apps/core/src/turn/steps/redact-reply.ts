import type { CoreContext } from '../../context.ts';
import type { Redactor } from '../../redaction/redactor.ts';

type Deps = Pick<CoreContext, 'knownSecrets'>;

/**
 * The last step: the reply as it may leave, with the secrets known by now. A text that was masked piece by piece while
 * it streamed is masked as a whole once more when a secret became known meanwhile.
 */
export function redactReply({ knownSecrets }: Deps, text: string, streamedWith: Redactor | null = null): string {
  const redactor = knownSecrets.redactor();
  return redactor === streamedWith ? text : redactor.text(text);
}
