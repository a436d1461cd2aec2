import type { REST } from '@discordjs/rest';
import { chatCommands, errorText, systemClock, type Clock, type StartContext } from '@svc/connector-kit';
import { isPassing } from '@svc/connector-kit/ingress/passing-faults.ts';
import { pause } from '@svc/connector-kit/retry.ts';
import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ApplicationIntegrationType,
  InteractionContextType,
  Routes,
  type RESTPutAPIApplicationCommandsJSONBody,
} from 'discord-api-types/v10';
import type { Bot } from '../chatroom-deps.ts';
import { toDiscordFault } from '../incoming/discord-fault.ts';

export const askCommand = 'ask';
export const askOption = 'question';
export const aboutCommand = 'Ask about this';

const everywhere = {
  contexts: [InteractionContextType.Guild, InteractionContextType.BotDM],
  integration_types: [ApplicationIntegrationType.GuildInstall],
};

/** The bot's menu: a question, the core's commands, and an entry under "Apps" of each message. */
export const menu: RESTPutAPIApplicationCommandsJSONBody = [
  {
    type: ApplicationCommandType.ChatInput,
    name: askCommand,
    description: 'ask the assistant something',
    options: [
      {
        type: ApplicationCommandOptionType.String,
        name: askOption,
        description: 'what you want to know',
        required: true,
        max_length: 1900,
      },
    ],
    ...everywhere,
  },
  ...chatCommands.map(({ name, description }) => ({
    type: ApplicationCommandType.ChatInput as const,
    name,
    description: description.slice(0, 100),
    ...everywhere,
  })),
  { type: ApplicationCommandType.Message, name: aboutCommand, ...everywhere },
];

const key = 'commands';

/** Interval of retries when Discord is unreachable at the start, ms. */
const againMs = 60_000;

type Deps = Pick<StartContext, 'state' | 'log' | 'signal'> & { clock?: Clock };

/** Sends Discord the menu if it differs, as soon as Discord can be reached. Never rejects. */
export async function keepCommands(
  { state, log, signal, clock = systemClock }: Deps,
  rest: Pick<REST, 'put'>,
  { applicationId }: Pick<Bot, 'applicationId'>,
  commands: RESTPutAPIApplicationCommandsJSONBody = menu,
): Promise<void> {
  const wanted = JSON.stringify([applicationId, commands]);
  for (;;) {
    try {
      if ((await state.get(key)) === wanted) return;
      await rest.put(Routes.applicationCommands(applicationId), { body: commands, signal });
      return await state.set(key, wanted);
    } catch (error) {
      const fault = toDiscordFault(error);
      if (signal.aborted) return;
      log('warn', 'the slash commands could not be registered with Discord', { error: errorText(fault) });
      if (!isPassing(fault) || !(await pause(clock, againMs, signal))) return;
    }
  }
}
