import { ServiceError, type OutboundMessage } from '@svc/connector-kit';

/**
 * Posts one message to the channel and resolves when it has been taken. `unprocessable` says that it never will be,
 * `busy` that a pause is wanted; anything else may pass and is tried again by those who sent it.
 */
export async function postOut(callbackUrl: string, { id, target, text }: OutboundMessage, signal: AbortSignal): Promise<void> {
  if (callbackUrl === '')
    throw new ServiceError(
      'unprocessable',
      'This instance has no callback_url to send to. Set it: ./svc connector config NAME --set callback_url=URL',
    );
  const answer = await fetch(callbackUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id, user: target, text }),
    signal,
  }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    const { code, message } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
    throw new Error(`Nothing answers at callback_url, ${callbackUrl} (${code ?? message}).`, { cause: error });
  });
  await answer.body?.cancel();
  if (answer.ok) return;
  if (answer.status === 429) {
    const retry_after_s = Number(answer.headers.get('retry-after') ?? 1);
    throw new ServiceError('busy', 'The callback address wants a pause.', { details: { retry_after_s } });
  }
  if (answer.status < 500) throw new ServiceError('unprocessable', `The callback address refused it (${answer.status}).`);
  throw new Error(`The callback address failed (${answer.status}).`);
}
