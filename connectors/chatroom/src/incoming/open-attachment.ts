import { download } from '@svc/connector-kit/ingress/download.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';

/** Where Discord keeps files. */
const hosts: ReadonlySet<string> = new Set(['https://cdn.discordapp.com', 'https://media.discordapp.net']);

/** Opens files of messages: those that Discord has, or the server that stands for it, and nothing else that a message could name. */
export function createOpenAttachment(apiUrl: string) {
  const own = new URL(apiUrl).origin;
  return async ({ url }: { url: string }, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> => {
    const address = URL.parse(url);
    if (address === null || !(hosts.has(address.origin) || address.origin === own))
      throw new ServiceError('unprocessable', "its address is not one of Discord's file servers");
    return download(address, 'Discord', signal);
  };
}
