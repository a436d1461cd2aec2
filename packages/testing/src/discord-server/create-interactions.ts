import type { Clock } from '@svc/service-kit/clock.ts';
import { ApiError, unknownThing, type DiscordComponent, type DiscordUser, type Snowflake } from './api-types.ts';
import type { BotProfile } from './bot-profile.ts';
import type { Channel, StoredMessage } from './model.ts';

/** What a person did that a bot has to answer. */
export type Interaction = {
  id: Snowflake;
  token: string;
  /** 2 a command, 3 a component, 4 completion, 5 a dialog that was sent. */
  type: number;
  name: string;
  bot: BotProfile;
  from: DiscordUser;
  channel: Channel;
  /** That of a component. */
  message: StoredMessage | null;
  startedAt: number;
  /** How the bot answered: the type of its callback; null while it has not. */
  answer: number | null;
  /** What it takes to answer it late. */
  isDeferred: boolean;
  /** What it shows as its answer, the first one first. */
  shown: StoredMessage[];
  choices: { name: string; value: unknown }[];
  dialog: { custom_id: string; title: string; components: DiscordComponent[] } | null;
};

type InteractionToAdd = Pick<Interaction, 'type' | 'name' | 'bot' | 'from' | 'channel' | 'message'>;

export type Interactions = {
  add(interaction: InteractionToAdd): Interaction;
  /** One that waits for its answer. @throws ApiError when it waited too long or has one. */
  waiting(id: Snowflake | undefined, token: string | undefined): Interaction;
  /** One that was answered, by what its messages are sent to. @throws ApiError */
  answered(applicationId: string | undefined, token: string | undefined): Interaction;
};

const tokenMs = 15 * 60_000;

/** `answerMs` is how long a person's client waits. */
export function createInteractions(nextId: () => Snowflake, clock: Clock, answerMs: number): Interactions {
  const all = new Map<string, Interaction>();
  return {
    add(given) {
      const id = nextId();
      const token = `interaction-token-${id}`;
      const interaction: Interaction = {
        ...given,
        id,
        token,
        startedAt: clock.elapsed(),
        answer: null,
        isDeferred: false,
        shown: [],
        choices: [],
        dialog: null,
      };
      all.set(token, interaction);
      return interaction;
    },
    waiting(id, token) {
      const interaction = all.get(token ?? '');
      if (interaction?.id !== id) throw unknownThing(10_062, 'interaction');
      if (interaction?.answer !== null) throw new ApiError(400, 40_060, 'Interaction has already been acknowledged.');
      if (clock.elapsed() - interaction.startedAt > answerMs) throw unknownThing(10_062, 'interaction');
      return interaction;
    },
    answered(applicationId, token) {
      const interaction = all.get(token ?? '');
      if (interaction?.bot.applicationId !== applicationId || interaction?.answer == null) throw unknownThing(10_015, 'Webhook');
      if (clock.elapsed() - interaction.startedAt > tokenMs) throw new ApiError(401, 50_027, 'Invalid Webhook Token');
      return interaction;
    },
  };
}
