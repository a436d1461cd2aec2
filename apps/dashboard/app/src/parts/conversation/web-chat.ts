import type { UploadCalls } from '@svc/chat-ui/outbox/upload-file.ts';
import { openWriter, type Writer } from '@svc/chat-ui/outbox/writer.ts';
import type { UploadedFile } from '@svc/contract/upload.ts';
import { ApiFault, call, withQuery } from '../api.ts';
import type { SessionWatch } from './watch-session.ts';
import { writerName } from './writer-name.ts';

/** The conversation that is always there. */
export const mainConversation = (user: string): string => `web:${encodeURIComponent(user)}:main`;
export const isOwnConversation = (user: string, key: string): boolean => key.startsWith(`web:${encodeURIComponent(user)}:`);

const uploadMs = 10 * 60_000;

/** Uploads of one conversation: nobody else can go on with them, or see what they bring. */
function uploadsOf(key: string): UploadCalls {
  const at = (path: string, more = {}) => withQuery(`/core/v2/upload${path}`, { conversation_key: key, ...more });
  return {
    whole: ({ name, mime }, body) =>
      call<{ file: UploadedFile }>('POST', at('', { filename: name, mime }), { body, timeoutMs: uploadMs }),
    begin: (file) => call('POST', '/core/v2/upload/init', { body: { ...file, conversation_key: key } }),
    state: (id) => call('GET', at(`/${id}`)),
    chunk: (id, index, body) => call('PUT', at(`/${id}/${index}`), { body, timeoutMs: uploadMs }),
    finish: (id) => call('POST', at(`/${id}/finish`)),
    isUnknown: (error) => error instanceof ApiFault && error.status === 404,
  };
}

type Options = { user: string; conversationKey: string; watch: SessionWatch };
export type WebChat = Writer;

/** What a person writes into a conversation of their own on the web. */
export const openWebChat = ({ user, conversationKey, watch: { conversation, begin } }: Options): WebChat =>
  openWriter({
    name: writerName(user),
    conversationKey,
    conversation,
    uploads: (outgoing) => uploadsOf(outgoing.conversation_key ?? conversationKey),
    async post({ message_id, text, files, conversation_key }) {
      const attachments = files.map(({ path, name, mime }) => ({ path, name, mime }));
      return await call<{ turn_id: string; conversation_key: string }>('POST', '/chat/turn', {
        body: {
          message_id,
          conversation_key: conversation_key ?? conversationKey,
          text,
          ...(attachments.length > 0 && { attachments }),
        },
      });
    },
    refusalOf: (error) => (error instanceof ApiFault ? error : null),
    // A conversation that was not there yet can be followed now.
    onSent: ({ status }) => status === 'accepted' && begin(),
  });
