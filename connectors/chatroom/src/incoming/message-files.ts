import type { IncomingFile } from '@svc/connector-kit/ingress/take-file.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { MessageFlags, type APIAttachment } from 'discord-api-types/v10';
import type { ChatMessage } from './read-event.ts';

/** A file in a message. */
export type MessageFile = IncomingFile & { url: string };

/** Discord's maximum for one message. */
const most = 10;

export function filesOf({ attachments, flags }: Pick<ChatMessage, 'attachments' | 'flags'>): MessageFile[] {
  const isSpoken = ((flags ?? 0) & MessageFlags.IsVoiceMessage) !== 0;
  return (attachments ?? []).slice(0, most).map((attachment) => toFile(attachment, isSpoken));
}

function toFile(
  { filename, url, size, content_type: mime, duration_secs: seconds }: APIAttachment,
  isSpoken: boolean,
): MessageFile {
  return {
    kind: isSpoken ? 'spoken' : 'file',
    what: isSpoken ? 'Voice message' : 'File',
    url,
    name: typeof filename === 'string' && filename.trim() !== '' ? cutText(filename, 200) : 'file',
    // The sender's program chooses the type, so it may be anything.
    ...(mime !== undefined && /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(mime) && { mime }),
    ...(Number.isSafeInteger(size) && { bytes: size }),
    ...(typeof seconds === 'number' && { seconds: Math.round(seconds) }),
  };
}
