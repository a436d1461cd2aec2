import type { REST } from '@discordjs/rest';
import { chatCommands, type ConnectorState } from '@svc/connector-kit';
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

/** The menu of the bot: a question, the commands of the core, and one below "Apps" of each message. */
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

/** Gives Discord the menu, when it is another one than it has. True when it was given. */
export async function registerCommands(
  rest: Pick<REST, 'put'>,
  { applicationId }: Bot,
  state: ConnectorState,
  signal: AbortSignal,
  commands: RESTPutAPIApplicationCommandsJSONBody = menu,
): Promise<boolean> {
  const wanted = JSON.stringify([applicationId, commands]);
  if ((await state.get(key)) === wanted) return false;
  try {
    await rest.put(Routes.applicationCommands(applicationId), { body: commands, signal });
  } catch (error) {
    throw toDiscordFault(error);
  }
  await state.set(key, wanted);
  return true;
}
