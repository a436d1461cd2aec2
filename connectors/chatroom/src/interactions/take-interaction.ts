import { channelLine } from '@svc/connector-kit/channel-line.ts';
import { typedText } from '@svc/connector-kit/typed-text.ts';
import type { REST } from '@discordjs/rest';
import { channelKey, errorText, type Envelope, type Sender, type StartContext } from '@svc/connector-kit';
import { oneLine } from '@svc/connector-kit/one-line.ts';
import { isRecord } from '@svc/contract/json-value.ts';
import {
  ApplicationCommandType,
  ComponentType,
  InteractionResponseType,
  InteractionType,
  PermissionFlagsBits,
  Routes,
  TextInputStyle,
  type APIInteraction,
} from 'discord-api-types/v10';
import type { Room } from '../chatroom-deps.ts';
import { isId, isMessage } from '../incoming/read-event.ts';
import { personOf } from '../incoming/sender-of.ts';
import type { TakeDeps } from '../incoming/take-event.ts';
import { bySpeaker, isOpen, textOf } from '../incoming/to-envelope.ts';
import { meta } from '../meta.ts';
import { aboutCommand, askCommand, askOption } from './commands.ts';
import type { Respond } from './respond.ts';
import { takePress } from './take-press.ts';

export type InteractionDeps = TakeDeps & Pick<StartContext, 'log' | 'signal'> & { rest: Pick<REST, 'get'>; respond: Respond };
type Asker = { own: Sender; roles: string[]; channel: string; room: Room | null; isPublic: boolean };

const longestQuote = 1500;
/** The response must be shown within 3 s, so the wait for the core is shorter, ms. */
const decideWithinMs = 1500;

/** Handles a chosen command or a pressed button. Rejects when it must be delivered again. */
export async function takeInteraction(deps: InteractionDeps, interaction: APIInteraction): Promise<void> {
  const asker = await askerOf(deps, interaction);
  if (asker === null) return;
  // The place's rules are unknown, or no answer could be posted there.
  if (interaction.guild_id !== undefined && (asker.room === null || !mayView(interaction)))
    return tellInTime(deps, interaction, 'I cannot see this channel.');
  const data = (interaction.data ?? {}) as Record<string, unknown>;
  const button = String(data['custom_id'] ?? '');
  switch (interaction.type) {
    case InteractionType.ApplicationCommand:
      if (data['type'] === ApplicationCommandType.Message) return openQuestion(deps, interaction, String(data['target_id']));
      return takeCommand(deps, interaction, asker, commandText(data));
    case InteractionType.ModalSubmit:
      return takeCommand(deps, interaction, asker, await aboutText(deps, asker, button, data));
    case InteractionType.MessageComponent:
      return press(deps, interaction, asker, button);
    default:
  }
}

const mayView = ({ app_permissions: own }: APIInteraction): boolean => (BigInt(own) & PermissionFlagsBits.ViewChannel) !== 0n;

async function askerOf(deps: InteractionDeps, { member, user, channel_id, guild_id }: APIInteraction): Promise<Asker | null> {
  const account = member?.user ?? user;
  const channel = (channel_id as string | undefined) ?? '';
  if (account === undefined) return null;
  const room = guild_id === undefined ? null : await deps.rooms.find(channel);
  const isPublic = room !== null && (await deps.rooms.guild(room.guildId, deps.signal)).isPublic;
  return { own: personOf(account), roles: member?.roles ?? [], channel, room, isPublic };
}

function placeOfAsker({ instanceId }: InteractionDeps, { channel, isPublic }: Asker) {
  return { conversation_key: channelKey(meta.type, instanceId, channel), ...(isPublic && { public: true }) };
}

async function press(deps: InteractionDeps, interaction: APIInteraction, asker: Asker, button: string): Promise<void> {
  const place = placeOfAsker(deps, asker);
  const { sender } = await deps.findSpeaker(asker.own, asker.roles, place);
  const as = { channel: meta.type, sender: { raw_id: sender.raw_id }, ...(asker.isPublic && { public: true }) };
  return takePress(deps, { interaction, button, as, conversationKey: place.conversation_key });
}

/** A chosen command as a text. */
function commandText({ name, options }: Record<string, unknown>): string {
  const given = (Array.isArray(options) ? options : []).filter(isRecord);
  if (name === askCommand) return typedText(String(given.find((option) => option['name'] === askOption)?.['value'] ?? ''));
  return `/${[name, ...given.map(({ value }) => value)].join(' ')}`;
}

/** Opens a window that asks for the question about a message. */
async function openQuestion({ respond }: InteractionDeps, interaction: APIInteraction, message: string): Promise<void> {
  const input = {
    type: ComponentType.TextInput,
    custom_id: askOption,
    label: 'Your question',
    style: TextInputStyle.Paragraph,
    max_length: 1000,
  };
  await respond.with(interaction, {
    type: InteractionResponseType.Modal,
    data: {
      custom_id: `about:${message}`,
      title: aboutCommand,
      components: [{ type: ComponentType.ActionRow, components: [{ ...input, type: ComponentType.TextInput, required: true }] }],
    },
  });
}

/** The question from the window, together with the message that it is about. */
async function aboutText(
  deps: InteractionDeps,
  { channel, room }: Asker,
  name: string,
  data: Record<string, unknown>,
): Promise<string> {
  const question = typedText(inputOf(data['components']));
  const id = name.slice('about:'.length);
  if (!isId(id)) return question;
  // The message may be gone; the question is still asked.
  const message: unknown = await deps.rest.get(Routes.channelMessage(channel, id), { signal: deps.signal }).catch(() => null);
  if (!isMessage(message)) return question;
  const guild = room === null ? undefined : await deps.rooms.guild(room.guildId, deps.signal);
  const said = textOf({ ...deps, now: () => 0 }, message, guild);
  const about = channelLine('About a message', ` of ${oneLine(message.author.username, 100)}: "${oneLine(said, longestQuote)}"`);
  return `${about}\n${question}`;
}

/** The text that was entered into a window, in any layout. */
function inputOf(components: unknown): string {
  for (const each of Array.isArray(components) ? components : []) {
    if (!isRecord(each)) continue;
    if (each['custom_id'] === askOption) return String(each['value'] ?? '');
    const inner = inputOf(each['components'] ?? (each['component'] === undefined ? [] : [each['component']]));
    if (inner !== '') return inner;
  }
  return '';
}

/** Shows the command and asks the core for an answer. */
async function takeCommand(deps: InteractionDeps, interaction: APIInteraction, asker: Asker, text: string): Promise<void> {
  const name = `interaction:${interaction.id}`;
  const refusal = await refusalOf(deps, asker);
  if (refusal !== null) return tellInTime(deps, interaction, refusal);
  if (text.trim() === '') return;
  const shown = deps.respond.show(interaction, text).catch((error: unknown) => noteLate(deps, error));
  return deps.ingress.take(asker.channel, name, async () => toCommandEnvelope(deps, asker, text, (await shown) ?? name));
}

async function tellInTime(deps: InteractionDeps, interaction: APIInteraction, text: string): Promise<void> {
  await deps.respond.tell(interaction, text).catch((error: unknown) => noteLate(deps, error));
}

function noteLate({ log }: InteractionDeps, error: unknown): null {
  log('warn', 'a command could not be answered in time', { error: errorText(error) });
  return null;
}

/** Why a command is refused; null when it is accepted. In private chats the core itself reports this. */
async function refusalOf(deps: InteractionDeps, asker: Asker): Promise<string | null> {
  const { room, own } = asker;
  if (room === null) return deps.dmAllowed !== '' && own.raw_id !== deps.dmAllowed ? 'Access denied.' : null;
  if (!isOpen(deps, room)) return 'I am switched off in this channel.';
  // The core is unreachable: the command is accepted once it is back.
  const speaker = deps.findSpeaker(own, asker.roles, placeOfAsker(deps, asker)).catch(() => null);
  const late = new Promise<null>((resolve) => setTimeout(resolve, decideWithinMs, null).unref());
  return (await Promise.race([speaker, late]))?.identity.denied === true ? 'Access denied.' : null;
}

async function toCommandEnvelope(deps: InteractionDeps, asker: Asker, text: string, messageId: string): Promise<Envelope> {
  const place = placeOfAsker(deps, asker);
  const { sender } = await deps.findSpeaker(asker.own, asker.roles, place);
  if (asker.room !== null) deps.rounds.begin(asker.room.id);
  return {
    ...place,
    channel: meta.type,
    message_id: messageId,
    sender,
    content: { text: bySpeaker(sender, asker.own.raw_username ?? 'a member', text) },
    capabilities: meta.capabilities,
    channel_context: { channelId: asker.channel },
  };
}
