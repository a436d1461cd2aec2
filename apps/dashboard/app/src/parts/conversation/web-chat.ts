import { createDrafts } from '@svc/chat-ui/outbox/drafts.ts';
import { Outbox, type Outgoing, type OutgoingFile, type Sent } from '@svc/chat-ui/outbox/outbox.ts';
import { ApiFault, call, withQuery } from '../api.ts';
import type { SessionWatch } from './watch-session.ts';

/** A new conversation of this person on the web; it begins with its first message. */
export const newConversation = (user: string): string =>
  `web:${encodeURIComponent(user)}:${crypto.randomUUID().replaceAll('-', '').slice(0, 16)}`;
/** The conversation that is always there. */
export const mainConversation = (user: string): string => `web:${encodeURIComponent(user)}:main`;
export const isOwnConversation = (user: string, key: string): boolean => key.startsWith(`web:${encodeURIComponent(user)}:`);

const uploadMs = 10 * 60_000;

async function upload(file: OutgoingFile, conversationKey: string): Promise<string> {
  if (file.blob === null) throw new ApiFault(400, { message: `${file.name} is not in this browser any more.` });
  const path = withQuery('/core/v2/upload', { filename: file.name, mime: file.mime, conversation_key: conversationKey });
  const answer = await call<{ file: { path: string } }>('POST', path, { body: file.blob, timeoutMs: uploadMs });
  return answer.file.path;
}

type Options = { user: string; conversationKey: string; watch: SessionWatch };
export type WebChat = ReturnType<typeof openWebChat>;

/** What a person writes into a conversation of their own: kept before it is sent, sent once however often that is tried. */
export function openWebChat({ user, conversationKey, watch: { conversation, begin } }: Options) {
  const drafts = createDrafts(`web-${user}`);

  async function send(outgoing: Outgoing): Promise<Sent> {
    const key = outgoing.conversation_key ?? conversationKey;
    try {
      for (const file of outgoing.files) {
        if (file.path !== null) continue;
        file.path = await upload(file, key);
        file.blob = null;
        await outbox.keep(outgoing);
      }
      const { message_id, text, files } = outgoing;
      const attachments = files.map(({ path, name, mime }) => ({ path, name, mime }));
      const answer = await call<{ turn_id: string }>('POST', '/chat/turn', {
        body: { message_id, conversation_key: key, text, ...(attachments.length > 0 && { attachments }) },
      });
      return { status: 'accepted', turn_id: answer.turn_id, conversation_key: key };
    } catch (error) {
      return sentOf(error);
    }
  }

  const outbox: Outbox = new Outbox({
    name: `web-${user}`,
    send,
    onChange({ message_id, conversation_key }, sent) {
      if (conversation_key !== conversationKey) return;
      if (sent.status === 'accepted') {
        conversation.sent(message_id, sent.turn_id);
        begin();
      } else if (sent.status === 'refused') conversation.notSent(message_id, 'unsent', sent.reason);
      else
        conversation.notSent(
          message_id,
          'sending',
          sent.status === 'again' ? 'Waiting for the connection' : 'Waiting until you sign in',
        );
    },
  });

  const show = ({ message_id, text, files, refused }: Outgoing) => {
    const attachments = files.map(({ name, mime, path }) => ({ name, mime, path: path ?? '' }));
    conversation.say(message_id, { origin: 'message', sender: null, text, attachments });
    if (refused !== null) conversation.notSent(message_id, 'unsent', refused);
  };

  return {
    drafts,
    draftName: conversationKey,
    /** Shows what waits from before, and sends it. */
    async resume(): Promise<void> {
      for (const outgoing of await outbox.list()) if (outgoing.conversation_key === conversationKey) show(outgoing);
      await outbox.drain();
    },
    /** @throws when the browser cannot keep the message */
    async send(text: string, files: readonly File[]): Promise<void> {
      const outgoing: Outgoing = {
        message_id: crypto.randomUUID(),
        conversation_key: conversationKey,
        text,
        files: files.map((file) => ({ name: file.name, mime: file.type || 'application/octet-stream', blob: file, path: null })),
        speak: false,
        at: Date.now(),
        refused: null,
      };
      show(outgoing);
      await outbox.add(outgoing);
    },
    retry(key: string): void {
      conversation.notSent(key, 'sending', null);
      void outbox.tryAgain(key);
    },
    /** Takes a message back that was not sent: its text is to be edited. */
    async takeBack(key: string): Promise<string | null> {
      const outgoing = await outbox.take(key);
      if (outgoing === undefined) return null;
      conversation.remove(key);
      return outgoing.text;
    },
    close: (): void => outbox.close(),
  };
}

/** What is the service's, the network's or the moment's fault is tried again. */
function sentOf(error: unknown): Sent {
  if (!(error instanceof ApiFault)) return { status: 'again' };
  if (error.status === 401) return { status: 'signed-out' };
  const again = error.status === 408 || error.status === 429 || error.status >= 500;
  return again ? { status: 'again' } : { status: 'refused', reason: error.message };
}
