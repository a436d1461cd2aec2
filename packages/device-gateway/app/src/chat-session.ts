import { createDrafts } from '@svc/chat-ui/outbox/drafts.ts';
import { Outbox, type Outgoing, type Sent } from '@svc/chat-ui/outbox/outbox.ts';
import type { ChatFrame } from '@svc/chat-ui/protocol.ts';
import { Conversation } from '@svc/chat-ui/state/conversation.ts';
import type { Turn } from '@svc/chat-ui/state/turn.ts';
import type { LinkState } from '@svc/chat-ui/stream/live-stream.ts';
import { openSharedStream } from '@svc/chat-ui/stream/shared-stream.ts';
import type { Device } from './device.ts';
import type { Gateway } from './gateway.ts';

type Options = {
  device: Device;
  gateway: Gateway;
  /** Null: the device's own. */
  conversationKey: string | null;
  onLink(state: LinkState): void;
};

export type ChatSession = ReturnType<typeof openChatSession>;

/** One conversation as long as it is shown: its turns, their stream, what is still to be sent. */
export function openChatSession({ device, gateway, conversationKey, onLink }: Options) {
  const conversation = new Conversation();
  const drafts = createDrafts(device.instance_id);
  let older: number | null = null;
  let reading: Promise<void> | null = null;
  let closed = false;

  const onChange = ({ message_id }: Outgoing, sent: Sent) => {
    if (sent.status === 'accepted') conversation.sent(message_id, sent.turn_id);
    else if (sent.status === 'refused') conversation.notSent(message_id, 'unsent', sent.reason);
    else conversation.notSent(message_id, 'sending', 'Waiting for the connection');
    if (sent.status === 'signed-out') onLink('refused');
  };
  const outbox: Outbox = new Outbox({
    name: device.instance_id,
    send: (outgoing) => gateway.send(outgoing, (kept) => outbox.keep(kept)),
    onChange,
  });

  const show = ({ message_id, text, files, refused }: Outgoing) => {
    const attachments = files.map(({ name, mime, path }) => ({ name, mime, path: path ?? '' }));
    conversation.say(message_id, { origin: 'message', sender: null, text, attachments });
    if (refused !== null) conversation.notSent(message_id, 'unsent', refused);
  };
  const showOutbox = async () => {
    const waiting = await outbox.list();
    for (const outgoing of waiting) if (outgoing.conversation_key === conversationKey) show(outgoing);
  };

  /** The newest page: at the start, and whenever frames are missing. */
  const readNewest = (): Promise<void> => {
    reading ??= gateway
      .history(conversationKey, null)
      .then((page) => {
        if (closed) return;
        older ??= page.next;
        conversation.merge(page.messages);
      })
      // The stream says when the gateway is back, and it is read then.
      .catch(() => undefined)
      .finally(() => (reading = null));
    return reading;
  };

  let isFirst = true;
  const stream = openSharedStream({
    name: `svc-stream-${device.id}-${conversationKey ?? 'own'}`,
    url: gateway.streamUrl(conversationKey),
    headers: () => gateway.headers,
    onState: onLink,
    onEvent(type, data) {
      const frame = { ...(data as object), type } as ChatFrame;
      if (frame.type === 'gap' || (frame.type === 'ready' && (frame.gap === true || isFirst))) void readNewest();
      if (frame.type === 'ready') isFirst = false;
      conversation.apply(frame);
    },
    snapshot: () => conversation.running(),
    adopt: (turns) => conversation.adopt(turns as Turn[]),
  });

  const started = readNewest()
    .then(showOutbox)
    .then(() => outbox.drain());

  return {
    conversationKey,
    conversation,
    drafts,
    started,
    draftName: conversationKey ?? 'own',
    async send(text: string, files: readonly File[], { speak = false, interrupt = false } = {}): Promise<void> {
      const outgoing: Outgoing = {
        message_id: crypto.randomUUID(),
        conversation_key: conversationKey,
        text,
        files: files.map((file) => ({ name: file.name, mime: file.type || 'application/octet-stream', blob: file, path: null })),
        speak,
        interrupt,
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
    async loadOlder(): Promise<void> {
      if (older === null) return;
      const page = await gateway.history(conversationKey, older).catch(() => null);
      if (page === null || closed) return;
      older = page.next;
      conversation.merge(page.messages);
    },
    stop: () => gateway.stop(conversationKey),
    /** Why it could not be answered; null when it was. */
    answer: (askId: string, option: string): Promise<string | null> =>
      gateway.answer(askId, option, conversationKey).then(
        () => null,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      ),
    close(): void {
      closed = true;
      stream.close();
      outbox.close();
    },
  };
}
