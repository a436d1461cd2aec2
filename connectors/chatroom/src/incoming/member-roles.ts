import type { REST } from '@discordjs/rest';
import { isRecord } from '@svc/contract/json-value.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import { Routes } from 'discord-api-types/v10';
import { toDiscordFault } from './discord-fault.ts';

/** Asks Discord for the roles of a member; none for someone who has left the server. Rejects with a `ServiceError`. */
export type MemberRoles = (guild: string, user: string, signal: AbortSignal) => Promise<readonly string[]>;

/** How long an answer is kept, ms: someone may have written many of the messages that are read at once. */
const keptMs = 60_000;
const maxKept = 1000;

export function createMemberRoles(rest: Pick<REST, 'get'>, clock: Pick<Clock, 'elapsed'>): MemberRoles {
  const known = new Map<string, { roles: Promise<readonly string[]>; at: number }>();
  return (guild, user, signal) => {
    const name = compositeKey(guild, user);
    const found = known.get(name);
    if (found !== undefined && clock.elapsed() - found.at < keptMs) return found.roles;
    const roles = ask(rest, guild, user, signal);
    known.delete(name);
    known.set(name, { roles, at: clock.elapsed() });
    forgetOldest(known, maxKept);
    roles.catch(() => known.delete(name));
    return roles;
  };
}

async function ask(rest: Pick<REST, 'get'>, guild: string, user: string, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const member: unknown = await rest.get(Routes.guildMember(guild, user), { signal });
    return isRecord(member) && Array.isArray(member['roles']) ? member['roles'].map(String) : [];
  } catch (error) {
    const fault = toDiscordFault(error);
    if (fault.code === 'not_found') return [];
    throw fault;
  }
}
