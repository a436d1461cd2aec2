import { openWriter, type Writer } from '@svc/chat-ui/outbox/writer.ts';
import type { ChatFrame } from '@svc/chat-ui/protocol.ts';
import { Conversation } from '@svc/chat-ui/state/conversation.ts';
import type { Turn } from '@svc/chat-ui/state/turn.ts';
import type { LinkState } from '@svc/chat-ui/stream/live-stream.ts';
import { createHistoryPages } from '@svc/chat-ui/stream/history-pages.ts';
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

/** One conversation as long as it is shown: its turns, their stream, what is still to be sent. */
export interface ChatSession extends Writer {
  /** Null: the device's own. */
  readonly conversationKey: string | null;
  readonly conversation: Conversation;
  /** Resolves when its newest page was read, as far as that is possible now, and what waited is sent. */
  readonly started: Promise<void>;
  /** Resolves when there is something older, or nothing more. */
  loadOlder(): Promise<void>;
  /** Stops the answer. @throws GatewayFault */
  stop(): Promise<unknown>;
  /** Answers a question of the assistant. Gives why that could not be done; null when it was. */
  answer(askId: string, option: string): Promise<string | null>;
}

export function openChatSession({ device, gateway, conversationKey, onLink }: Options): ChatSession {
  const conversation = new Conversation();

  const writer = openWriter({
    name: device.instance_id,
    conversationKey,
    conversation,
    uploads: () => gateway.uploads,
    post: gateway.say,
    refusalOf: (error) => (error instanceof GatewayFault ? error : null),
    onSent: ({ status }) => status === 'signed-out' && onLink('refused'),
  });

  const pages = createHistoryPages({ conversation, read: (before) => gateway.history(conversationKey, before) });
  // The stream says when the gateway is back, and it is read then.
  const readNewest = () => pages.readNewest().catch(() => undefined);

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
    loadOlder: pages.loadOlder,
    stop: () => gateway.stop(conversationKey),
    answer: (askId, option) =>
      gateway.answer(askId, option, conversationKey).then(
        () => null,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      ),
    close() {
      stream.close();
      writer.close();
    },
  };
}
