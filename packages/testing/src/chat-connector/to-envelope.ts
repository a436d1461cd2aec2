import { channelKey, userKey, type Envelope, type StartContext } from '@svc/connector-kit';
import { meta } from './meta.ts';
import type { Message, PlatformApi } from './platform-api.ts';

type Deps = Pick<StartContext, 'instanceId' | 'uploads' | 'signal'> & { api: PlatformApi };

/** A message as the core takes it, its file saved. Null for what is not answered. */
export async function toEnvelope(deps: Deps, message: Message): Promise<Envelope | null> {
  const { id, chat, from, text, file } = message;
  if (from.bot) return null;
  const conversation_key = keyOf(deps.instanceId, chat);
  const saved = file === undefined ? [] : [await save(deps, file, conversation_key)];
  return {
    channel: meta.type,
    conversation_key,
    message_id: id,
    sender: { raw_id: from.id, raw_username: from.name },
    content: { text, ...(saved.length > 0 && { attachments: saved }) },
    capabilities: meta.capabilities,
    channel_context: { chatId: chat.id },
  };
}

export const keyOf = (instanceId: string, { id, kind }: Message['chat']): string =>
  kind === 'group' ? channelKey(meta.type, instanceId, id) : userKey(meta.type, instanceId, id);

async function save({ uploads, api, signal }: Deps, file: NonNullable<Message['file']>, conversation_key: string) {
  const data = await api.file(file.id, signal);
  return uploads.save({ name: file.name, mime: file.mime, data, conversation_key, maxBytes: 20_000_000 });
}
