import { errorText, ServiceError, userKey, type Attachment, type Envelope, type StartContext } from '@svc/connector-kit';
import { meta } from './meta.ts';
import type { PlatformApi, Update } from './platform-api.ts';

type Deps = Pick<StartContext, 'instanceId' | 'uploads'> & { api: Pick<PlatformApi, 'download'> };

const maxFileBytes = 50_000_000;

/** A message as the core takes it, its file saved. Null for what is not to be answered. */
export async function toEnvelope(
  { instanceId, uploads, api }: Deps,
  update: Update,
  signal: AbortSignal,
): Promise<Envelope | null> {
  const { chat, user, message_id, text, file } = update;
  // The same chat is the same conversation. A room has `channelKey` instead.
  const conversation_key = userKey(meta.type, instanceId, chat);
  const attachments = file === undefined ? [] : [await save({ uploads, api }, file, conversation_key, signal)];
  return {
    channel: meta.type,
    conversation_key,
    message_id,
    sender: { raw_id: user },
    content: { text, ...(attachments.length > 0 && { attachments }) },
    capabilities: meta.capabilities,
    // Where replies go, and what nobody has just asked for.
    channel_context: { chatId: chat },
  };
}

/** A connection that breaks says nothing of the file: then the update is to be given again. */
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
