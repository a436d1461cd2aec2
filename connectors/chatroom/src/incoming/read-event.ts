import { isRecord } from '@svc/contract/json-value.ts';
import {
  GatewayDispatchEvents,
  type APIInteraction,
  type APIMessage,
  type GatewayDispatchPayload,
  type GatewayMessageReactionAddDispatchData,
} from 'discord-api-types/v10';

type Lists = 'mentions' | 'mention_roles' | 'attachments' | 'embeds';

/** A message from the gateway or REST; only the gateway includes its server and its author's roles. */
export type ChatMessage = Omit<APIMessage, Lists> &
  Partial<Pick<APIMessage, Lists>> & { guild_id?: string; member?: { roles?: string[]; nick?: string | null } };

/** An event of the gateway that concerns the assistant. Its ids are validated, everything else is unchecked. */
export type ChatEvent =
  | { kind: 'message' | 'edited'; message: ChatMessage }
  | { kind: 'deleted'; channel: string; messages: string[] }
  | { kind: 'reaction'; reaction: GatewayMessageReactionAddDispatchData }
  | { kind: 'interaction'; interaction: APIInteraction };

/** Null for an event that does not concern the assistant, or has no ids. */
export function readEvent({ t: kind, d: data }: Pick<GatewayDispatchPayload, 't' | 'd'>): ChatEvent | null {
  switch (kind) {
    case GatewayDispatchEvents.MessageCreate:
      return isMessage(data) ? { kind: 'message', message: data } : null;
    case GatewayDispatchEvents.MessageUpdate:
      return isMessage(data) && editedAt(data) !== null ? { kind: 'edited', message: data } : null;
    case GatewayDispatchEvents.MessageDelete:
      return readDeleted(data, [fieldOf(data, 'id')]);
    case GatewayDispatchEvents.MessageDeleteBulk:
      return readDeleted(data, fieldOf(data, 'ids'));
    case GatewayDispatchEvents.MessageReactionAdd:
      return isReaction(data) ? { kind: 'reaction', reaction: data } : null;
    case GatewayDispatchEvents.InteractionCreate:
      return isInteraction(data) ? { kind: 'interaction', interaction: data } : null;
    default:
      return null;
  }
}

/** When its author edited it; null when it only got a link preview or was pinned. */
export function editedAt({ edited_timestamp }: Pick<APIMessage, 'edited_timestamp'>): number | null {
  const at = Date.parse(edited_timestamp ?? '');
  return Number.isFinite(at) ? at : null;
}

const discordEpoch = 1_420_070_400_000n;

/** Time at which an id was created, epoch ms. */
export const timeOf = (id: string): number => Number((BigInt(id) >> 22n) + discordEpoch);

/** Whether one id is older than another. Ids are numbers of different lengths. */
export const isOlder = (id: string, other: string): boolean => BigInt(id) < BigInt(other);

export const isId = (value: unknown): value is string => typeof value === 'string' && /^[0-9]{1,20}$/.test(value);

const fieldOf = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined);

function readDeleted(data: unknown, ids: unknown): ChatEvent | null {
  const channel = fieldOf(data, 'channel_id');
  if (!isId(channel) || !Array.isArray(ids) || !ids.every(isId)) return null;
  return { kind: 'deleted', channel, messages: ids };
}

const isUser = (value: unknown): boolean => isRecord(value) && isId(value['id']) && typeof value['username'] === 'string';
const isOptional = (value: unknown, holds: (value: unknown) => boolean): boolean =>
  value === undefined || value === null || holds(value);
const isListOf = (value: unknown, holds: (value: unknown) => boolean): boolean => Array.isArray(value) && value.every(holds);

export const isMessage = (value: unknown): value is ChatMessage =>
  isRecord(value) &&
  isId(value['id']) &&
  isId(value['channel_id']) &&
  isUser(value['author']) &&
  typeof value['content'] === 'string' &&
  isOptional(value['guild_id'], isId) &&
  isOptional(value['webhook_id'], isId) &&
  isOptional(value['application_id'], isId) &&
  isOptional(value['member'], isRecord) &&
  isOptional(value['referenced_message'], isMessage) &&
  isOptional(value['mentions'], (list) => isListOf(list, isUser)) &&
  isOptional(value['mention_roles'], (list) => isListOf(list, isId)) &&
  ['attachments', 'embeds', 'sticker_items'].every((name) => isOptional(value[name], (list) => isListOf(list, isRecord))) &&
  isOptional(value['message_snapshots'], (list) => isListOf(list, isSnapshot));

const isSnapshot = (value: unknown): boolean =>
  isRecord(value) && isRecord(value['message']) && typeof value['message']['content'] === 'string';

const isReaction = (value: unknown): value is GatewayMessageReactionAddDispatchData =>
  isRecord(value) &&
  isId(value['user_id']) &&
  isId(value['channel_id']) &&
  isId(value['message_id']) &&
  isOptional(value['guild_id'], isId) &&
  isRecord(value['emoji']);

const isInteraction = (value: unknown): value is APIInteraction =>
  isRecord(value) &&
  isId(value['id']) &&
  typeof value['token'] === 'string' &&
  isId(value['channel_id']) &&
  isOptional(value['guild_id'], isId) &&
  (isUser(value['user']) || isUser(fieldOf(value['member'], 'user')));
