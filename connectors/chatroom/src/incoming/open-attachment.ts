import { download } from '@svc/connector-kit/ingress/download.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';

/** The servers on which Discord stores files. */
const hosts: ReadonlySet<string> = new Set(['https://cdn.discordapp.com', 'https://media.discordapp.net']);

/** Opens files of messages, from Discord's file servers or the configured server only, whatever address a message names. */
export function createOpenAttachment(apiUrl: string) {
  const own = new URL(apiUrl).origin;
  return async ({ url }: { url: string }, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> => {
    const address = URL.parse(url);
    if (address === null || !(hosts.has(address.origin) || address.origin === own))
      throw new ServiceError('unprocessable', "its address is not one of Discord's file servers");
    return download(address, 'Discord', signal);
  };
}
