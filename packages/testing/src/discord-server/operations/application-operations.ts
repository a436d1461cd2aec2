import { intents, invalidForm, unknownThing } from '../api-types.ts';
import { applicationFlags, type BotCommand, type BotProfile } from '../bot-profile.ts';
import type { Platform } from '../platform.ts';
import { guildOf } from './place-operations.ts';
import type { OperationCall, Operations } from './operation-table.ts';

/** Operations on the bot itself, its application, its commands and the gateway's address. */
export const applicationOperations: Operations = {
  get_gateway: ({ gatewayUrl }) => ({ url: gatewayUrl }),
  get_bot_gateway: ({ gatewayUrl }) => ({
    url: gatewayUrl,
    shards: 1,
    session_start_limit: { total: 1000, remaining: 1000, reset_after: 86_400_000, max_concurrency: 1 },
  }),
  get_my_user: (_, { bot }) => ({ ...bot.user, mfa_enabled: false, locale: 'en-US', verified: true, email: null }),
  get_user({ world }, { at }) {
    const user = world.users.get(at['user_id'] ?? '');
    if (user === undefined) throw unknownThing(10_013, 'User');
    return user;
  },
  get_my_application: (_, { bot }) => toApplication(bot),
  get_my_oauth2_application: (_, { bot }) => toApplication(bot),
  bulk_set_application_commands: (platform, call) => setCommands(platform, call, {}),
  list_application_commands: (_, { bot }) => bot.commands.filter((one) => one.guild_id === undefined).map(toCommand(bot)),
  create_application_command: (platform, call) => addCommand(platform, call, {}),
  bulk_set_guild_application_commands: (platform, call) => setCommands(platform, call, { guild_id: guildOf(platform, call).id }),
  list_guild_application_commands: (platform, call) => {
    const { id } = guildOf(platform, call);
    return call.bot.commands.filter((one) => one.guild_id === id).map(toCommand(call.bot));
  },
  create_guild_application_command: (platform, call) => addCommand(platform, call, { guild_id: guildOf(platform, call).id }),
  delete_application_command: (_, call) => removeCommand(call),
  delete_guild_application_command: (_, call) => removeCommand(call),
};

function toApplication(bot: BotProfile) {
  const { user, applicationId, privileged } = bot;
  return {
    id: applicationId,
    name: user.username,
    icon: null,
    description: '',
    type: null,
    bot: user,
    bot_public: false,
    bot_require_code_grant: false,
    verify_key: '0'.repeat(64),
    flags: applicationFlags(bot),
    flags_new: String(applicationFlags(bot)),
    redirect_uris: [],
    interactions_endpoint_url: null,
    role_connections_verification_url: null,
    owner: { ...user, bot: false },
    approximate_guild_count: 1,
    approximate_user_install_count: 0,
    approximate_user_authorization_count: 0,
    explicit_content_filter: 0,
    team: null,
    eligible_oauth2_scopes: (privileged & intents.guildMembers) === 0 ? [] : ['bot'],
  };
}

type GivenCommand = Omit<BotCommand, 'id' | 'guild_id' | 'type'> & { type?: number };

function setCommands(platform: Platform, call: OperationCall, scope: { guild_id?: string }) {
  const { bot } = call;
  const given = call.body as GivenCommand[];
  const names = given.map(({ type = 1, name }) => `${type} ${name}`);
  if (new Set(names).size < names.length)
    throw invalidForm('0/name', 'APPLICATION_COMMANDS_DUPLICATE_NAME', 'Application command names must be unique');
  given.forEach(checkName);
  const others = bot.commands.filter((one) => one.guild_id !== scope.guild_id);
  const own = given.map((one): BotCommand => ({ ...one, type: one.type ?? 1, id: platform.world.nextId(), ...scope }));
  bot.commands = [...others, ...own];
  return own.map(toCommand(bot));
}

function addCommand(platform: Platform, call: OperationCall, scope: { guild_id?: string }) {
  const given = call.body as GivenCommand;
  checkName(given, 0);
  const command: BotCommand = { ...given, type: given.type ?? 1, id: platform.world.nextId(), ...scope };
  const isOther = ({ type, name, guild_id }: BotCommand): boolean =>
    type !== command.type || name !== command.name || guild_id !== scope.guild_id;
  call.bot.commands = [...call.bot.commands.filter(isOther), command];
  return toCommand(call.bot)(command);
}

function checkName({ type = 1, name }: { type?: number; name: string }, n: number): void {
  const isFit = type !== 1 || (/^[-_'\p{L}\p{N}]{1,32}$/u.test(name) && name === name.toLowerCase());
  if (!isFit) throw invalidForm(`${n}/name`, 'APPLICATION_COMMAND_INVALID_NAME', 'Command name is invalid');
}

function removeCommand({ bot, at }: OperationCall): void {
  const left = bot.commands.filter(({ id }) => id !== at['command_id']);
  if (left.length === bot.commands.length) throw unknownThing(10_063, 'application command');
  bot.commands = left;
}

const toCommand = (bot: BotProfile) => (command: BotCommand) => ({
  application_id: bot.applicationId,
  version: command.id,
  default_member_permissions: null,
  description: '',
  ...command,
});
