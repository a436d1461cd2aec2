import { http, type IncomingMessage } from '@svc/service-kit/builtin.ts';
import { ServiceError, unavailable } from '@svc/service-kit/service-error.ts';

/** A download that receives nothing for this long is aborted, ms. */
const idleMs = 30_000;
const https = process.getBuiltinModule('node:https');

/**
 * Opens a file of a platform. Redirects are not followed. Errors never contain the address, which may include a secret: `unavailable` for
 * temporary errors, `unprocessable` for a refusal.
 */
export async function download(address: URL, platform: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const { get } = address.protocol === 'https:' ? https : http;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = get(address, { signal }, resolve);
    request.setTimeout(idleMs, () => request.destroy(new Error('timeout')));
    request.on('error', () => reject(unavailable('The download of a file was interrupted.')));
  });
  const { statusCode = 0 } = answer;
  if (statusCode === 200) return bytesOf(answer);
  answer.destroy();
  if (statusCode === 429 || statusCode >= 500) throw unavailable(`${platform} answered ${statusCode} instead of a file.`);
  throw new ServiceError('unprocessable', `${platform} answered ${statusCode}`);
}

async function* bytesOf(answer: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    yield* answer as AsyncIterable<Buffer>;
  } catch {
    throw unavailable('The download of a file was interrupted.');
  }
  if (!answer.complete) throw unavailable('The download of a file was interrupted.');
}
