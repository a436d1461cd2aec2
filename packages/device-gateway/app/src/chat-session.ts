import { openWriter } from '@svc/chat-ui/outbox/writer.ts';
import type { ChatFrame } from '@svc/chat-ui/protocol.ts';
import { Conversation } from '@svc/chat-ui/state/conversation.ts';
import type { Turn } from '@svc/chat-ui/state/turn.ts';
import type { LinkState } from '@svc/chat-ui/stream/live-stream.ts';
import { coalesceReads } from '@svc/chat-ui/stream/coalesce-reads.ts';
import { openSharedStream } from '@svc/chat-ui/stream/shared-stream.ts';
import type { Device } from './device.ts';
import { type Gateway, GatewayFault } from './gateway.ts';

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
  let older: number | null = null;
  let closed = false;

  const writer = openWriter({
    name: device.instance_id,
    conversationKey,
    conversation,
    uploads: () => gateway.uploads,
    post: gateway.say,
    refusalOf: (error) => (error instanceof GatewayFault ? error : null),
    onSent: ({ status }) => status === 'signed-out' && onLink('refused'),
  });

  /** The newest page: at the start, and whenever frames are missing. */
  const readNewest = coalesceReads(() =>
    gateway.history(conversationKey, null).then(
      (page) => {
        if (closed) return;
        older ??= page.next;
        conversation.merge(page.messages);
      },
      // The stream says when the gateway is back, and it is read then.
      () => undefined,
    ),
  );

  const stream = openSharedStream({
    name: `svc-stream-${device.id}-${conversationKey ?? 'own'}`,
    url: gateway.streamUrl(conversationKey),
    headers: () => gateway.headers,
    onState: onLink,
    onEvent(type, data) {
      const frame = { ...(data as object), type } as ChatFrame;
      // A stream that begins again may have no place to go on from: of a conversation that began meanwhile it says only what comes.
      if (frame.type === 'gap' || frame.type === 'ready') void readNewest();
      conversation.apply(frame);
    },
    snapshot: () => conversation.running(),
    adopt: (turns) => conversation.adopt(turns as Turn[]),
  });

  return {
    ...writer,
    conversationKey,
    conversation,
    started: readNewest().then(() => writer.resume()),
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
      writer.close();
    },
  };
}
