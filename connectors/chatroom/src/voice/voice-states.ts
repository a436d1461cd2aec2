import { isRecord } from '@svc/contract/json-value.ts';

/** The members of voice channels, as far as the gateway has reported them. */
export type VoiceStates = {
  /** Handles an event of the gateway. */
  note(event: { t: string | null; d: unknown }): void;
  /** Number of people in a channel, without programs; null for an unreported server. */
  peopleIn(guild: string, channel: string): number | null;
};

const maxGuilds = 200;
const maxPeople = 10_000;

export function createVoiceStates(): VoiceStates {
  /** For each server, the channel of each person. */
  const guilds = new Map<string, Map<string, string>>();

  function begin(guild: string, states: unknown, members: unknown): void {
    if (guilds.size >= maxGuilds && !guilds.has(guild)) return;
    guilds.set(guild, new Map());
    const programs = new Set(listOf(members).flatMap((member) => (isProgram(member) ? [userOf(member)] : [])));
    for (const state of listOf(states)) if (!programs.has(state['user_id'])) set(guild, state);
  }

  function set(guild: string, state: Record<string, unknown>): void {
    const people = guilds.get(guild);
    const { user_id: user, channel_id: channel, member } = state;
    if (people === undefined || typeof user !== 'string') return;
    people.delete(user);
    const isThere = typeof channel === 'string' && !(isRecord(member) && isProgram(member));
    if (isThere && people.size < maxPeople) people.set(user, channel);
  }

  return {
    note({ t: kind, d: data }) {
      if (!isRecord(data)) return;
      const { id, guild_id } = data;
      if (kind === 'GUILD_CREATE' && typeof id === 'string') begin(id, data['voice_states'], data['members']);
      if (kind === 'GUILD_DELETE' && typeof id === 'string') guilds.delete(id);
      if (kind === 'VOICE_STATE_UPDATE' && typeof guild_id === 'string') set(guild_id, data);
    },
    peopleIn(guild, channel) {
      const people = guilds.get(guild);
      if (people === undefined) return null;
      return [...people.values()].filter((each) => each === channel).length;
    },
  };
}

const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const userOf = (member: Record<string, unknown>): unknown => (isRecord(member['user']) ? member['user']['id'] : undefined);
const isProgram = ({ user }: Record<string, unknown>): boolean => isRecord(user) && user['bot'] === true;
