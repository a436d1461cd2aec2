import { type DiscordComponent, type DiscordUser } from './api-types.ts';
import type { BotCommand, BotProfile, CommandOption } from './bot-profile.ts';
import type { Interaction } from './create-interactions.ts';
import type { FileToAdd } from './create-files.ts';
import type { Platform } from './platform.ts';
import { toChannel, toMember, toMessage } from './to-wire.ts';
import type { Channel, StoredMessage } from './model.ts';

export type OptionValue = string | number | boolean | { file: FileToAdd };
export type Called = {
  from: DiscordUser;
  channel: Channel;
  /** The name, with subcommands after a blank: `room start`. */
  name: string;
  options?: Record<string, OptionValue>;
  bot?: BotProfile;
};

/** Actions of people with commands and components. Each returns the interaction with the bot's answer. */
export type PeopleInteractions = {
  /** Calls a slash command. @throws when the bot has not registered it. */
  command(called: Called): Interaction;
  /** Requests the autocomplete choices of an option. */
  complete(called: Called & { focused: string }): Interaction;
  /** Calls a command in the context menu of a message or a person. */
  contextMenu(
    from: DiscordUser,
    name: string,
    target: StoredMessage | { user: DiscordUser; channel: Channel },
    bot?: BotProfile,
  ): Interaction;
  /** Presses a button by its label or its id. @throws when there is none, or it is disabled. */
  press(message: StoredMessage, from: DiscordUser, button: string): Interaction;
  /** Chooses values of a menu. */
  choose(message: StoredMessage, from: DiscordUser, menu: string, values: readonly string[]): Interaction;
  /** Submits the modal that the bot opened. */
  submit(dialog: Interaction, fields: Record<string, string>): Interaction;
};

type Sent = Pick<Interaction, 'type' | 'name' | 'bot' | 'from' | 'channel'> & { message?: StoredMessage; data: object };
type Option = { type: number; name: string; value?: unknown; focused?: boolean; options?: Option[] };

const optionTypes = { subcommand: 1, group: 2, attachment: 11 };

export function createPeopleInteractions(platform: Platform): PeopleInteractions {
  const { bots, interactions, announce, files } = platform;
  const firstBot = (): BotProfile => {
    const [bot] = bots.values();
    if (bot === undefined) throw new Error('there is no bot');
    return bot;
  };
  const start = ({ data, ...sent }: Sent): Interaction => {
    const interaction = interactions.add({ ...sent, message: sent.message ?? null });
    announce.toBot(sent.bot, 'INTERACTION_CREATE', { ...toInteraction(platform, interaction), data });
    return interaction;
  };

  const call = ({ from, channel, name, options = {}, bot = firstBot() }: Called, type: number, focused?: string): Interaction => {
    const [root = '', ...path] = name.split(' ');
    const command = commandNamed(bot, channel, root, 1);
    const attachments: Record<string, object> = {};
    const toOption = ({ type: kind, name: own }: CommandOption): Option => {
      const value = options[own];
      if (typeof value !== 'object') return { type: kind, name: own, value, ...(own === focused && { focused: true }) };
      const attachment = files.add(value.file, channel);
      attachments[attachment.id] = attachment;
      return { type: optionTypes.attachment, name: own, value: attachment.id };
    };
    const given = optionsAt(command, path, (known) => {
      const missing = known.filter((one) => one.required === true && options[one.name] === undefined);
      if (missing.length > 0 && focused === undefined)
        throw new Error(`/${name} needs ${missing.map((one) => one.name).join(', ')}`);
      const strange = Object.keys(options).filter((one) => !known.some((option) => option.name === one));
      if (strange.length > 0) throw new Error(`/${name} has no ${strange.join(', ')}`);
      return known.filter((one) => options[one.name] !== undefined).map(toOption);
    });
    const resolved = Object.keys(attachments).length > 0 ? { resolved: { attachments } } : {};
    return start({ type, name, bot, from, channel, data: { ...idsOf(command), options: given, ...resolved } });
  };

  return {
    command: (called) => call(called, 2),
    complete: (called) => call(called, 4, called.focused),
    contextMenu(from, name, target, bot = firstBot()) {
      const isUser = 'user' in target;
      const command = commandNamed(bot, target.channel, name, isUser ? 2 : 3);
      const resolved = isUser
        ? { users: { [target.user.id]: target.user } }
        : { messages: { [target.id]: toMessage(target, bot.user, true) } };
      const target_id = isUser ? target.user.id : target.id;
      return start({ type: 2, name, bot, from, channel: target.channel, data: { ...idsOf(command), target_id, resolved } });
    },
    press(message, from, name) {
      const button = componentNamed(message, name);
      if (button.disabled === true) throw new Error(`the button ${name} is not to be pressed`);
      if (button.custom_id === undefined) throw new Error(`the button ${name} opens a link`);
      const data = { component_type: 2, custom_id: button.custom_id, id: button['id'] };
      return start({ type: 3, name: button.custom_id, bot: botOf(message), from, channel: message.channel, message, data });
    },
    choose(message, from, name, values) {
      const { type, custom_id = '', id } = componentNamed(message, name) as DiscordComponent & { id: number };
      const data = { component_type: type, custom_id, id, values };
      return start({ type: 3, name: custom_id, bot: botOf(message), from, channel: message.channel, message, data });
    },
    submit({ dialog, bot, from, channel, message }, fields) {
      if (dialog === null) throw new Error('no dialog was opened');
      const rows = Object.entries(fields).map(([custom_id, value]) => ({ type: 1, components: [{ type: 4, custom_id, value }] }));
      const data = { custom_id: dialog.custom_id, components: rows };
      return start({ type: 5, name: dialog.custom_id, bot, from, channel, ...(message !== null && { message }), data });
    },
  };

  function botOf({ author }: StoredMessage): BotProfile {
    const bot = [...bots.values()].find(({ user }) => user === author);
    if (bot === undefined) throw new Error(`${author.username} is no bot`);
    return bot;
  }
}

/** A guild command takes precedence over a global one. */
function commandNamed({ commands, user }: BotProfile, { guild }: Channel, name: string, type: number): BotCommand {
  const fits = commands.filter((one) => one.name === name && one.type === type);
  const command = fits.find((one) => one.guild_id === guild?.id) ?? fits.find((one) => one.guild_id === undefined);
  if (command !== undefined) return command;
  throw new Error(`${user.username} has no command ${name} here, only ${commands.map((one) => one.name).join(', ')}`);
}

/** The options of a command or, by its path, of one of its subcommands. */
function optionsAt(
  { options = [] }: { options?: CommandOption[] },
  path: readonly string[],
  read: (known: CommandOption[]) => Option[],
): Option[] {
  const [name, ...rest] = path;
  if (name === undefined) return read(options);
  const sub = options.find((one) => one.name === name && one.type <= optionTypes.group);
  if (sub === undefined) throw new Error(`there is no subcommand ${name}`);
  return [{ type: sub.type, name, options: optionsAt(sub, rest, read) }];
}

const idsOf = ({ id, name, type, guild_id }: BotCommand) => ({ id, name, type, ...(guild_id !== undefined && { guild_id }) });

function componentNamed({ components }: StoredMessage, name: string): DiscordComponent {
  const all = components.flatMap((one) => one.components ?? [one]);
  const component = all.find(({ label, custom_id }) => label === name || custom_id === name);
  if (component !== undefined) return component;
  throw new Error(`no component ${name} among ${JSON.stringify(all.map(({ label, custom_id }) => label ?? custom_id))}`);
}

function toInteraction({ world }: Platform, { id, token, type, bot, from, channel, message }: Interaction): object {
  const { guild } = channel;
  const may = (user: DiscordUser): string => String(world.permissionsOf(user, channel));
  const member = guild?.members.get(from.id);
  return {
    id,
    application_id: bot.applicationId,
    type,
    token,
    version: 1,
    channel_id: channel.id,
    channel: toChannel(channel, bot.user),
    app_permissions: may(bot.user),
    locale: 'en-US',
    entitlements: [],
    attachment_size_limit: 10 * 1024 * 1024,
    authorizing_integration_owners: { 0: guild?.id ?? '0' },
    context: guild === null ? 1 : 0,
    ...(guild === null || member === undefined
      ? { user: from }
      : { guild_id: guild.id, guild_locale: 'en-US', member: { ...toMember(member), permissions: may(from) } }),
    ...(message !== null && { message: toMessage(message, bot.user, true) }),
  };
}
