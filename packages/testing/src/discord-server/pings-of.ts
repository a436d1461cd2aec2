import type { AllowedMentions, DiscordUser } from './api-types.ts';
import type { World } from './create-world.ts';
import type { Channel, StoredMessage } from './model.ts';

export type PingRules = {
  /** Null allows all. */
  allowed: AllowedMentions | null;
  /** The user who is replied to, when that notifies them. */
  replied?: DiscordUser | undefined;
};

/** The users and roles that a text notifies. */
export function pingsOf(world: World, { guild }: Channel, text: string, { allowed, replied }: PingRules): StoredMessage['pings'] {
  const may = (kind: 'users' | 'roles', id: string): boolean =>
    allowed === null || (allowed.parse ?? []).includes(kind) || (allowed[kind] ?? []).includes(id);
  const named = [...text.matchAll(/<@!?(\d+)>/g)].flatMap(([, id = '']) => world.users.get(id) ?? []);
  const users = named.filter(({ id }) => may('users', id));
  const roles = [...text.matchAll(/<@&(\d+)>/g)]
    .map(([, id = '']) => id)
    .filter((id) => guild?.roles.some((role) => role.id === id) === true && may('roles', id));
  const everyone =
    guild !== null && /@(?:everyone|here)\b/.test(text) && (allowed === null || (allowed.parse ?? []).includes('everyone'));
  return { users: [...new Set(replied === undefined ? users : [replied, ...users])], roles: [...new Set(roles)], everyone };
}
