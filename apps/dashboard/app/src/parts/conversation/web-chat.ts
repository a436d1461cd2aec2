import { openWriter, type Writer } from '@svc/chat-ui/outbox/writer.ts';
import { ApiFault, call } from '../api.ts';
import { uploadCalls } from '../uploads/upload-calls.ts';
import type { SessionWatch } from './watch-session.ts';
import { storageName } from './storage-name.ts';

/** The conversation that always exists. */
export const mainConversation = (user: string): string => `web:${encodeURIComponent(user)}:main`;
export const isOwnConversation = (user: string, key: string): boolean => key.startsWith(`web:${encodeURIComponent(user)}:`);

type Options = { user: string; conversationKey: string; watch: SessionWatch };
export type WebChat = Writer;

/** Sends what a person writes into their own conversation on the web. */
export const openWebChat = ({ user, conversationKey, watch: { conversation, begin } }: Options): WebChat =>
  openWriter({
    name: storageName(user),
    conversationKey,
    conversation,
    uploads: (outgoing) => uploadCalls(outgoing.conversation_key ?? conversationKey),
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
    // A conversation that has just been created can be followed now.
    onSent: ({ status }) => status === 'accepted' && begin(),
  });
