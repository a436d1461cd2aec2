import type { REST } from '@discordjs/rest';
import type { StartContext } from '@svc/connector-kit';
import { pause } from '@svc/connector-kit/retry.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { Routes } from 'discord-api-types/v10';
import { toDiscordFault } from './discord-fault.ts';
import { isMessage, isOlder, timeOf, type ChatMessage } from './read-event.ts';

export type BackfillDeps = Pick<StartContext, 'log' | 'signal'> & { rest: Pick<REST, 'get'>; clock: Clock };
export type Missed = {
  /** Channels that may contain missed messages, the most important first. */
  channels: readonly { id: string; guildId?: string }[];
  /** Epoch ms: older messages are not read. */
  since: number;
};

/** Limits of what is read after an absence: pages of a channel, channels, and total time, ms. */
const pageSize = 100;
const maxPages = 2;
const maxChannels = 200;
const withinMs = 60_000;
const longestPauseMs = 10_000;

/** Messages that were posted while nobody listened, in order. Never rejects: what cannot be read is logged and left out. */
export async function readMissed(deps: BackfillDeps, { channels, since }: Missed): Promise<ChatMessage[]> {
  const { clock, log, signal } = deps;
  const until = clock.elapsed() + withinMs;
  const found: ChatMessage[] = [];
  let read = 0;
  for (const { id, guildId } of channels.slice(0, maxChannels)) {
    if (signal.aborted || clock.elapsed() > until) break;
    read++;
    try {
      const messages = await readChannel(deps, id, { since, until });
      // REST does not say to which server a message belongs.
      found.push(...messages.map((message) => (guildId === undefined ? message : { ...message, guild_id: guildId })));
    } catch (error) {
      log('warn', 'messages that a channel received while the connector was offline could not be read', {
        channel: id,
        error: errorText(error),
      });
    }
  }
  if (read < channels.length && !signal.aborted)
    log('warn', 'more channels have missed messages than are read', { channels: channels.length, read });
  return found.toSorted((one, other) => (isOlder(one.id, other.id) ? -1 : 1));
}

/** `until`: when reading is given up, by `clock.elapsed`. */
type Bounds = { since: number; until: number };

async function readChannel(deps: BackfillDeps, channel: string, { since, until }: Bounds): Promise<ChatMessage[]> {
  const found: ChatMessage[] = [];
  let before: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const messages = await readPage(deps, channel, { until, before });
    const fresh = messages.filter(({ id }) => timeOf(id) >= since);
    found.push(...fresh);
    before = fresh.at(-1)?.id;
    if (before === undefined || fresh.length < pageSize) return found;
  }
  deps.log('warn', 'a channel has more missed messages than are read', { channel, read: found.length });
  return found;
}

/** Newest first. Temporary errors are waited out, because the messages of a skipped channel are lost. */
async function readPage(
  { rest, clock, signal }: BackfillDeps,
  channel: string,
  { until, before }: { until: number; before: string | undefined },
): Promise<ChatMessage[]> {
  const query = new URLSearchParams({ limit: String(pageSize), ...(before !== undefined && { before }) });
  for (let tried = 1; ; tried++) {
    try {
      const answer: unknown = await rest.get(Routes.channelMessages(channel), { query, signal });
      return Array.isArray(answer) ? answer.filter(isMessage) : [];
    } catch (error) {
      const fault = toDiscordFault(error);
      const pauseMs = Math.min(Number(fault.details['retry_after_s'] ?? tried) * 1000, longestPauseMs);
      const isPassing = fault.code === 'busy' || fault.code === 'unavailable';
      if (!isPassing || clock.elapsed() + pauseMs > until || !(await pause(clock, pauseMs, signal))) throw fault;
    }
  }
}
