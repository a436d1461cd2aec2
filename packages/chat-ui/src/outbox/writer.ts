import { t } from '../language/t.ts';
import type { Conversation } from '../state/conversation.ts';
import { createDrafts, type Drafts } from './drafts.ts';
import { Outbox, type Outgoing, type OutgoingFile, type Sent } from './outbox.ts';
import { type UploadCalls, uploadFile } from './upload-file.ts';

type Accepted = { turn_id: string | null; conversation_key: string };

type Options = {
  /** Name of the browser database: a writer with the same name finds unsent messages again. */
  name: string;
  /** Null: the server's default conversation. */
  conversationKey: string | null;
  conversation: Conversation;
  uploads(outgoing: Outgoing): UploadCalls;
  post(outgoing: Outgoing): Promise<Accepted>;
  /** The refusal of the server; null when the server could not be reached. */
  refusalOf(error: unknown): { status: number; message: string } | null;
  /** Called with the result for a message of this conversation. */
  onSent(sent: Sent): void;
};

/**
 * The messages that a person writes into one conversation: stored before they are sent, and sent exactly once, however many
 * attempts it takes.
 */
export interface Writer {
  readonly drafts: Drafts;
  /** The name of this conversation's draft. */
  readonly draftName: string;
  /** Shows messages that wait from an earlier visit, and sends them. */
  resume(): Promise<void>;
  /** @throws when the browser cannot keep the message */
  send(text: string, files: readonly File[], how?: { speak?: boolean; interrupt?: boolean }): Promise<void>;
  /** Sends the message of a failed turn again, with its files. @throws when the browser cannot store the message */
  repeat(key: string): Promise<void>;
  /** Sends a message again that was refused. */
  retry(key: string): Promise<void>;
  /** Takes back an unsent message for editing; null when it was accepted in the meantime. */
  takeBack(key: string): Promise<{ text: string; files: File[] } | null>;
  close(): void;
}

export function openWriter({ name, conversationKey, conversation, uploads, post, refusalOf, onSent }: Options): Writer {
  const outbox: Outbox = new Outbox({
    name,
    send,
    onChange({ message_id, conversation_key }, sent) {
      if (conversation_key !== conversationKey) return;
      if (sent.status === 'accepted') conversation.sent(message_id, sent.turn_id);
      else if (sent.status === 'refused') conversation.notSent(message_id, 'unsent', sent.reason);
      else conversation.notSent(message_id, 'sending', waitsFor[sent.status]);
      onSent(sent);
    },
  });

  async function send(outgoing: Outgoing): Promise<Sent> {
    try {
      for (const file of outgoing.files) {
        if (file.path !== null) continue;
        if (file.blob === null)
          return { status: 'refused', reason: t('{file} is no longer in this browser.', { file: file.name }) };
        // Its bytes stay until the message is accepted: a refused one is edited with its files.
        file.path = await uploadFile(uploads(outgoing), file, file.blob, () => outbox.keep(outgoing));
        await outbox.keep(outgoing);
      }
      return { status: 'accepted', ...(await post(outgoing)) };
    } catch (error) {
      return sentOf(refusalOf(error));
    }
  }

  const show = ({ message_id, text, files, refused }: Outgoing) => {
    const attachments = files.map(({ name: file, mime, path }) => ({ name: file, mime, path: path ?? '' }));
    conversation.say(message_id, { origin: 'message', sender: null, text, attachments });
    if (refused !== null) conversation.notSent(message_id, 'unsent', refused);
  };

  /** @throws when the browser cannot keep the message */
  async function keep(said: Pick<Outgoing, 'text' | 'files' | 'speak' | 'interrupt'>): Promise<void> {
    const message_id = crypto.randomUUID();
    const outgoing: Outgoing = { ...said, message_id, conversation_key: conversationKey, at: Date.now(), refused: null };
    show(outgoing);
    try {
      await outbox.add(outgoing);
    } catch (error) {
      conversation.remove(message_id);
      throw error;
    }
  }

  /** A closed view or another tab has sent it or taken it back; the conversation's history shows which. */
  function gone(key: string): void {
    conversation.remove(key);
    onSent({ status: 'accepted', turn_id: null, conversation_key: conversationKey ?? '' });
  }

  return {
    drafts: createDrafts(name),
    draftName: conversationKey ?? ownDraft,
    async resume() {
      const waiting = (await outbox.list()).filter(({ conversation_key }) => conversation_key === conversationKey);
      for (const outgoing of waiting) show(outgoing);
      await outbox.drain();
      const left = new Set((await outbox.list()).map(({ message_id }) => message_id));
      for (const { message_id: key } of waiting) if (!left.has(key) && conversation.turn(key)?.phase === 'sending') gone(key);
    },
    send: (text, files, { speak = false, interrupt = false } = {}) =>
      keep({ text, files: files.map(toOutgoing), speak, interrupt }),
    async repeat(key) {
      const said = conversation.turn(key)?.said;
      if (said == null) return;
      const files = said.attachments.map(({ name: file = 'file', mime = 'application/octet-stream', path }) => ({
        name: file,
        mime,
        blob: null,
        path: path === '' ? null : path,
      }));
      await keep({ text: said.text, files, speak: false });
    },
    async retry(key) {
      conversation.notSent(key, 'sending', null);
      const isHere = await outbox.tryAgain(key);
      if (!isHere && conversation.turn(key)?.turnId === null) conversation.remove(key);
    },
    async takeBack(key) {
      const outgoing = await outbox.take(key);
      if (outgoing === undefined) return null;
      conversation.remove(key);
      const files = outgoing.files.flatMap(({ name: file, mime, blob }) =>
        blob === null ? [] : [new File([blob], file, { type: mime })],
      );
      return { text: outgoing.text, files };
    },
    close: () => outbox.close(),
  };
}

/** The draft of the conversation that needs no name. */
export const ownDraft = 'own';

const waitsFor = { again: t('Waiting for the connection'), 'signed-out': t('Waiting until you are signed in') } as const;

const toOutgoing = (file: File): OutgoingFile => ({
  name: file.name,
  mime: file.type || 'application/octet-stream',
  blob: file,
  path: null,
});

/** What is the server's, the network's or the moment's fault is tried again. */
function sentOf(refusal: { status: number; message: string } | null): Sent {
  if (refusal === null) return { status: 'again' };
  const { status, message } = refusal;
  if (status === 401) return { status: 'signed-out' };
  // 0: a proxy sends elsewhere, to a login of its own.
  const again = status === 0 || status === 408 || status === 429 || status >= 500;
  return again ? { status: 'again' } : { status: 'refused', reason: message };
}
