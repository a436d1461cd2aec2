import { cutText } from '@svc/service-kit/cut-text.ts';
import type { Message } from 'grammy/types';

/** A file in a message. `spoken`: its transcript replaces it. */
export type MessageFile = {
  kind: 'photo' | 'spoken' | 'file';
  /** What people call it. */
  what: string;
  id: string;
  name: string;
  mime?: string;
  bytes?: number;
  seconds?: number;
};

type Media = { file_id: string; file_size?: number; file_name?: string; mime_type?: string; duration?: number };

/** The only file of a message; null when there is none. An album is several messages. */
export function fileOf(message: Message): MessageFile | null {
  const { photo, voice, video_note, animation, video, audio, document } = message;
  const name = `${message.message_id}`;
  const largest = photo?.at(-1);
  if (largest !== undefined) return toFile('photo', 'Photo', largest, `photo-${name}.jpg`, 'image/jpeg');
  if (voice !== undefined) return toFile('spoken', 'Voice message', voice, `voice-${name}.ogg`, 'audio/ogg');
  if (video_note !== undefined) return toFile('spoken', 'Video message', video_note, `video-${name}.mp4`, 'video/mp4');
  // An animation is also sent as a document.
  if (animation !== undefined) return toFile('file', 'Animation', animation, `animation-${name}.mp4`);
  if (video !== undefined) return toFile('file', 'Video', video, `video-${name}.mp4`);
  if (audio !== undefined) return toFile('file', 'Audio', audio, `audio-${name}.mp3`);
  return document === undefined ? null : toFile('file', 'File', document, `file-${name}`);
}

function toFile(kind: MessageFile['kind'], what: string, media: Media, usualName: string, usualMime?: string): MessageFile {
  const { file_id, file_size: bytes, file_name, mime_type, duration: seconds } = media;
  const mime = mime_type ?? usualMime;
  return {
    kind,
    what,
    id: file_id,
    name: typeof file_name === 'string' && file_name.trim() !== '' ? cutText(file_name, 200) : usualName,
    // The sender's program chooses the type, so it may be anything.
    ...(mime !== undefined && /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(mime) && { mime }),
    ...(bytes !== undefined && { bytes }),
    ...(seconds !== undefined && { seconds }),
  };
}
