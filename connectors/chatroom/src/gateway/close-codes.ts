import { ServiceError } from '@svc/service-kit/service-error.ts';
import { developerPage, tokenHelp } from '../incoming/discord-fault.ts';

const page = (name: string): string => `${developerPage} (your application, "Bot", ${name})`;

/** Close codes after which the gateway stays closed until a person acts. */
const finalCodes: Readonly<Record<number, ServiceError>> = {
  4004: new ServiceError('unauthorized', `Discord rejected this token (4004). ${tokenHelp}`),
  4010: new ServiceError('unprocessable', 'Discord rejected the shard of this connection (4010).'),
  4011: new ServiceError('unprocessable', 'This bot is in too many servers for one connection (4011).'),
  4012: new ServiceError('unprocessable', 'Discord no longer supports this version of its gateway (4012). Update the service.'),
  4013: new ServiceError('unprocessable', 'Discord rejected the gateway intents of this connector (4013). Update the service.'),
  4014: new ServiceError(
    'forbidden',
    `This bot is not allowed to read messages (4014): turn on "Message Content Intent" at ${page('"Privileged Gateway Intents"')} and save.`,
  ),
};

/** Why a connection that was closed with this code is not reopened at once; null when it is. */
export const finalFault = (code: number): ServiceError | null => finalCodes[code] ?? null;

/** Whether a session survives a connection that was closed with this code: the network closed it, not Discord. */
export const isOfNetwork = (code: number): boolean => code !== 1000 && (code < 4000 || code > 4014);
