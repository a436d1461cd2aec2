import type { RawFile, REST, RequestMethod } from '@discordjs/rest';
import { toFault } from './to-fault.ts';

export type CallOptions = { body?: object; query?: Record<string, string>; files?: RawFile[] };

/** One request to Discord. Rejects as the reply writer wants it. */
export type DiscordCall = <T = unknown>(
  method: `${RequestMethod}`,
  route: `/${string}`,
  options?: CallOptions,
  signal?: AbortSignal,
) => Promise<T>;

export const createDiscordCall = (rest: Pick<REST, 'request'>): DiscordCall => {
  const call = async (
    method: `${RequestMethod}`,
    route: `/${string}`,
    { query, ...options }: CallOptions = {},
    signal?: AbortSignal,
  ): Promise<unknown> => {
    try {
      return await rest.request({
        ...options,
        method: method as RequestMethod, // an enumeration of the same words
        fullRoute: route,
        ...(query !== undefined && { query: new URLSearchParams(query) }),
        ...(signal !== undefined && { signal }),
      });
    } catch (error) {
      throw toFault(error);
    }
  };
  return call as DiscordCall;
};
