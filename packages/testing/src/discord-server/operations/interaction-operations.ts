import { unknownThing, type DiscordComponent, type MessageBody } from '../api-types.ts';
import type { Interaction } from '../create-interactions.ts';
import type { Platform } from '../platform.ts';
import { toMessage } from '../to-wire.ts';
import type { OperationCall, Operations } from './operation-table.ts';
import { change, send, type Written } from './write-message.ts';
import type { StoredMessage } from '../model.ts';

export const callbacks = { message: 4, deferred: 5, deferredUpdate: 6, update: 7, choices: 8, dialog: 9 } as const;
const ephemeral = 64;
const loading = 128;

type Callback = { type: number; data?: MessageBody & { choices?: Interaction['choices'] } & Partial<Interaction['dialog']> };

/** Answers to interactions. They need no bot token: the interaction's own is in the address. */
export const interactionOperations: Operations = {
  create_interaction_response(platform, call) {
    const interaction = platform.interactions.waiting(call.at['interaction_id'], call.at['interaction_token']);
    const callback = call.body as Callback;
    answer(platform, call, interaction, callback);
    interaction.answer = callback.type;
    if (call.query.get('with_response') !== 'true') return undefined;
    const [shown] = interaction.shown;
    const { id, type, bot } = interaction;
    return {
      interaction: { id, type, ...(shown !== undefined && { response_message_id: shown.id }) },
      ...(shown !== undefined && { resource: { type: callback.type, message: toMessage(shown, bot.user, true) } }),
    };
  },
  execute_webhook(platform, call) {
    const interaction = find(platform, call);
    const [first] = interaction.shown;
    const written = writtenOf(call);
    // After a deferral the first follow-up message is the answer itself.
    const message =
      first !== undefined && (first.flags & loading) !== 0
        ? fill(platform, interaction, first, written)
        : add(platform, interaction, written);
    call.made(message);
    return toMessage(message, interaction.bot.user, true);
  },
  get_original_webhook_message: (platform, call) => show(platform, call, true),
  get_webhook_message: (platform, call) => show(platform, call, false),
  update_original_webhook_message: (platform, call) => update(platform, call, true),
  update_webhook_message: (platform, call) => update(platform, call, false),
  delete_original_webhook_message: (platform, call) => remove(platform, call, true),
  delete_webhook_message: (platform, call) => remove(platform, call, false),
};

function answer(platform: Platform, call: OperationCall, interaction: Interaction, { type, data = {} }: Callback): void {
  const written = { body: data, files: call.files };
  const { message } = interaction;
  if (type === callbacks.message) call.made(add(platform, interaction, written));
  else if (type === callbacks.deferred) add(platform, interaction, { ...written, body: { flags: (data.flags ?? 0) | loading } });
  else if (type === callbacks.choices) interaction.choices = data.choices ?? [];
  else if (type === callbacks.dialog) {
    const { custom_id = '', title = '', components = [] } = data;
    interaction.dialog = { custom_id, title, components: components as DiscordComponent[] };
  } else if (message !== null) {
    if (type === callbacks.update) change(platform, interaction.bot, message, written);
    interaction.shown = [message];
    interaction.isDeferred = type === callbacks.deferredUpdate;
  }
  if (type === callbacks.deferred) interaction.isDeferred = true;
}

function add(platform: Platform, interaction: Interaction, written: Written): StoredMessage {
  const { id, type, bot, from, channel, name } = interaction;
  const flags = written.body.flags ?? 0;
  const isLoading = (flags & loading) !== 0;
  const more = {
    flags,
    type: type === 2 ? 20 : 0,
    onlyFor: (flags & ephemeral) === 0 ? null : from,
    interaction: { id, type, user: from, name },
    applicationId: bot.applicationId,
  };
  const message = isLoading
    ? platform.messages.add({ channel, author: bot.user, ...more })
    : send(platform, bot, channel, written, more);
  if (isLoading) platform.announce.message('MESSAGE_CREATE', message);
  interaction.shown.push(message);
  return message;
}

function fill(platform: Platform, { bot }: Interaction, message: StoredMessage, written: Written): StoredMessage {
  change(platform, bot, message, written);
  message.flags &= ~loading;
  return message;
}

const writtenOf = ({ body, files }: OperationCall): Written => ({ body: body as MessageBody, files });

const find = ({ interactions }: Platform, { at }: OperationCall): Interaction =>
  interactions.answered(at['webhook_id'], at['webhook_token']);

function messageOf(
  platform: Platform,
  call: OperationCall,
  isOriginal: boolean,
): { interaction: Interaction; message: StoredMessage } {
  const interaction = find(platform, call);
  const { shown } = interaction;
  const message = isOriginal ? shown[0] : shown.find(({ id }) => id === call.at['message_id']);
  if (message === undefined || message.isDeleted) throw unknownThing(10_008, 'Message');
  return { interaction, message };
}

function show(platform: Platform, call: OperationCall, isOriginal: boolean) {
  const { interaction, message } = messageOf(platform, call, isOriginal);
  return toMessage(message, interaction.bot.user, true);
}

function update(platform: Platform, call: OperationCall, isOriginal: boolean) {
  const { interaction, message } = messageOf(platform, call, isOriginal);
  call.made(fill(platform, interaction, message, writtenOf(call)));
  return toMessage(message, interaction.bot.user, true);
}

function remove(platform: Platform, call: OperationCall, isOriginal: boolean): void {
  const { message } = messageOf(platform, call, isOriginal);
  message.isDeleted = true;
  platform.announce.deleted(message.onlyFor === null ? [message] : []);
}
