import type { CoreContext } from '../../context.ts';

/**
 * The last step: the whole reply once more, with the secrets known by now. What was streamed has passed the same
 * redaction piece by piece; this catches a secret that became known while the turn ran.
 */
export const redactReply = ({ knownSecrets }: Pick<CoreContext, 'knownSecrets'>, text: string): string =>
  knownSecrets.redactor().text(text);
