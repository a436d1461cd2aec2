import {
  channelKey,
  errorText,
  ServiceError,
  userKey,
  type Amendment,
  type Envelope,
  type StartContext,
} from '@svc/connector-kit';
import { meta } from './meta.ts';
import type { Message, PlatformApi, User } from './platform-api.ts';

type Deps = Pick<StartContext, 'instanceId' | 'uploads' | 'signal'> & { api: PlatformApi };

/** A message as the core takes it, its file saved. */
export async function toEnvelope(deps: Deps, message: Message): Promise<Envelope> {
  const { id, chat, from, text, file, mentions_bot } = message;
  const conversation_key = keyOf(deps.instanceId, chat);
  const saved = file === undefined ? [] : [await save(deps, file, conversation_key)];
  return {
    channel: meta.type,
    conversation_key,
    message_id: id,
    sender: senderOf(from),
    ...(chat.kind === 'group' && { mentioned: mentions_bot }),
    content: { text, ...(saved.length > 0 && { attachments: saved }) },
    capabilities: meta.capabilities,
    channel_context: { chatId: chat.id },
  };
}

export const senderOf = ({ id, name, bot }: User): Envelope['sender'] => ({ raw_id: id, raw_username: name, is_bot: bot });

export const keyOf = (instanceId: string, { id, kind }: Message['chat']): string =>
  kind === 'group' ? channelKey(meta.type, instanceId, id) : userKey(meta.type, instanceId, id);

/** The change of an edit or a deletion. Ids of updates grow, so the higher one is newer. */
export const toAmendment = (
  instanceId: string,
  { id, kind, message }: { id: number; kind: string; message: Message },
): Amendment => ({
  conversation_key: keyOf(instanceId, message.chat),
  message_id: message.id,
  version: id,
  text: kind === 'deleted' ? null : message.text,
  as: { channel: meta.type, sender: senderOf(message.from) },
});

/** A broken connection does not mean that the file is missing: the update must be sent again. */
async function save({ uploads, api, signal }: Deps, file: NonNullable<Message['file']>, conversation_key: string) {
  try {
    const data = await api.file(file.id, signal);
    return await uploads.save({ name: file.name, mime: file.mime, data, conversation_key, maxBytes: 20_000_000 });
  } catch (error) {
    throw error instanceof ServiceError ? error : new ServiceError('unavailable', errorText(error), { cause: error });
  }
}
