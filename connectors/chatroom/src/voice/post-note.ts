import type { REST } from '@discordjs/rest';
import type { Clock } from '@svc/connector-kit';
import { pause } from '@svc/connector-kit/retry.ts';
import { isRecord } from '@svc/contract/json-value.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { Routes } from 'discord-api-types/v10';
import { toDiscordFault } from '../incoming/discord-fault.ts';

export type PostNote = (channel: string, text: string) => Promise<string>;

const longest = 2000;
const maxTries = 3;
/** An utterance waits for its caption no longer than this, ms. */
const longestPauseMs = 5000;

type Deps = {
  rest: Pick<REST, 'post'>;
  clock: Clock;
  signal: AbortSignal;
  /** The message is no lost part of a reply. */
  posted(channel: string, id: string): Promise<void>;
};

/** Posts a text of the connector itself, without mentions; returns the id of the message. Waits while Discord limits the rate. */
export function createPostNote({ rest, clock, signal, posted }: Deps): PostNote {
  return async (channel, text) => {
    const body = { content: cutText(text, longest), allowed_mentions: { parse: [] } };
    for (let tries = 1; ; tries++) {
      try {
        const message = await rest.post(Routes.channelMessages(channel), { body, signal });
        const id = isRecord(message) ? String(message['id']) : '';
        await posted(channel, id);
        return id;
      } catch (error) {
        const fault = toDiscordFault(error);
        const waitMs = Number(fault.details['retry_after_s']) * 1000;
        const mayTry = fault.code === 'busy' && tries < maxTries && waitMs <= longestPauseMs;
        if (!mayTry || !(await pause(clock, waitMs, signal))) throw fault;
      }
    }
  };
}
