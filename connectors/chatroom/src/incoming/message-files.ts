import type { IncomingFile } from '@svc/connector-kit/ingress/take-file.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { MessageFlags, type APIAttachment } from 'discord-api-types/v10';
import type { ChatMessage } from './read-event.ts';

/** A file that a message holds. */
export type MessageFile = IncomingFile & { url: string };

/** As many as a message of Discord can have. */
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
    // What its sender's program says of a file may be anything.
    ...(mime !== undefined && /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(mime) && { mime }),
    ...(Number.isSafeInteger(size) && { bytes: size }),
    ...(typeof seconds === 'number' && { seconds: Math.round(seconds) }),
  };
}
