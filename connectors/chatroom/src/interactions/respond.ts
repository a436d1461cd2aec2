import type { REST } from '@discordjs/rest';
import { isRecord } from '@svc/contract/json-value.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import {
  InteractionResponseType,
  MessageFlags,
  Routes,
  type APIInteraction,
  type APIInteractionResponse,
} from 'discord-api-types/v10';
import type { Bot } from '../chatroom-deps.ts';
import { toDiscordFault } from '../incoming/discord-fault.ts';
import { isId } from '../incoming/read-event.ts';

type Named = Pick<APIInteraction, 'id' | 'token'>;

/** The first response to an interaction, which Discord expects within 3 s. All methods reject with a `ServiceError`. */
export type Respond = {
  /** Shows a message to everyone in the channel and returns its id; null when the id is unknown. */
  show(interaction: Named, text: string): Promise<string | null>;
  /** Shows a text to the person alone. */
  tell(interaction: Named, text: string): Promise<void>;
  /** Sends any other kind of response. */
  with(interaction: Named, response: APIInteractionResponse): Promise<unknown>;
};

const longestText = 2000;
/** The code for an interaction that was already answered, because its event was delivered again. */
const alreadyAnswered = 'unprocessable';

export function createRespond(rest: Pick<REST, 'post' | 'get'>, { applicationId }: Bot, signal: AbortSignal): Respond {
  async function respond({ id, token }: Named, body: APIInteractionResponse, isShown = false): Promise<unknown> {
    try {
      const query = new URLSearchParams({ with_response: String(isShown) });
      return await rest.post(Routes.interactionCallback(id, token), { body, query, auth: false, signal });
    } catch (error) {
      throw toDiscordFault(error);
    }
  }

  async function idOfShown({ token }: Named): Promise<string | null> {
    const message: unknown = await rest
      .get(Routes.webhookMessage(applicationId, token), { auth: false, signal })
      .catch(() => null); // without the id, the reply just answers no message
    return isRecord(message) && isId(message['id']) ? message['id'] : null;
  }

  const content = (text: string) => ({ content: cutText(text, longestText), allowed_mentions: { parse: [] } });

  return {
    with: (interaction, response) => respond(interaction, response),
    async show(interaction, text) {
      try {
        const data = content(text);
        const answer = await respond(interaction, { type: InteractionResponseType.ChannelMessageWithSource, data }, true);
        return idIn(answer) ?? (await idOfShown(interaction));
      } catch (error) {
        if (toDiscordFault(error).code === alreadyAnswered) return idOfShown(interaction);
        throw error;
      }
    },
    async tell(interaction, text) {
      const data = { ...content(text), flags: MessageFlags.Ephemeral };
      await respond(interaction, { type: InteractionResponseType.ChannelMessageWithSource, data });
    },
  };
}

function idIn(answer: unknown): string | null {
  const resource = isRecord(answer) ? answer['resource'] : null;
  const message = isRecord(resource) ? resource['message'] : null;
  return isRecord(message) && isId(message['id']) ? message['id'] : null;
}
