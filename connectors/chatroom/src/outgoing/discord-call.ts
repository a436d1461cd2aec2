import type { RawFile, REST, RequestMethod } from '@discordjs/rest';
import { toFault } from './to-fault.ts';

export type CallOptions = { body?: object; query?: Record<string, string>; files?: RawFile[] };

/** Sends one request to Discord. Rejects with the errors that the reply writer expects. */
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
        method: method as RequestMethod, // the cast: the enumeration has the same values
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
