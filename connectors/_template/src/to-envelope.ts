import { errorText, ServiceError, userKey, type Attachment, type Envelope, type StartContext } from '@svc/connector-kit';
import { meta } from './meta.ts';
import type { PlatformApi, Update } from './platform-api.ts';

type Deps = Pick<StartContext, 'instanceId' | 'uploads'> & { api: Pick<PlatformApi, 'download'> };

const maxFileBytes = 50_000_000;

/** A message as an envelope, with its file saved. Null when it is not to be answered. */
export async function toEnvelope(
  { instanceId, uploads, api }: Deps,
  update: Update,
  signal: AbortSignal,
): Promise<Envelope | null> {
  const { chat, user, message_id, text, file } = update;
  // The same chat is always the same conversation. For a room, use `channelKey` instead.
  const conversation_key = userKey(meta.type, instanceId, chat);
  const attachments = file === undefined ? [] : [await save({ uploads, api }, file, conversation_key, signal)];
  return {
    channel: meta.type,
    conversation_key,
    message_id,
    sender: { raw_id: user },
    content: { text, ...(attachments.length > 0 && { attachments }) },
    capabilities: meta.capabilities,
    // Where replies and pushed messages are sent.
    channel_context: { chatId: chat },
  };
}

/** A broken connection says nothing about the file, so the update must then be delivered again. */
async function save(
  { uploads, api }: Pick<Deps, 'uploads' | 'api'>,
  file: NonNullable<Update['file']>,
  conversation_key: string,
  signal: AbortSignal,
): Promise<Attachment> {
  try {
    const data = await api.download(file.id, signal);
    return await uploads.save({ ...file, data, conversation_key, maxBytes: maxFileBytes });
  } catch (error) {
    throw error instanceof ServiceError ? error : new ServiceError('unavailable', errorText(error), { cause: error });
  }
}
