import { Conversation } from '@svc/chat-ui/state/conversation.ts';
import type { Turn } from '@svc/chat-ui/state/turn.ts';
import type { LinkState } from '@svc/chat-ui/stream/live-stream.ts';
import { createHistoryPages } from '@svc/chat-ui/stream/history-pages.ts';
import { openSharedStream } from '@svc/chat-ui/stream/shared-stream.ts';
import type { History, SessionStreamFrame } from '@svc/contract/session.ts';
import { ApiFault, authHeaders, get, withQuery } from '../api.ts';
import { toChatFrame } from './to-chat-frame.ts';

const pageSize = 50;
/** A tab that was hidden for this long closes its stream: each takes one of the six connections that HTTP/1.1 allows for a host. */
const unseenMs = 30_000;

export const sessionPath = (key: string): string => `/core/v2/session/${encodeURIComponent(key)}`;

type Options = { user: string; conversationKey: string; onLink(state: LinkState): void };

/** A conversation of any channel while it is shown: its history and its live updates. */
export interface SessionWatch {
  readonly conversation: Conversation;
  /** Follows a conversation that has just been created. */
  begin(): void;
  /** Its updates are shown, or will be when the tab is in sight again. */
  isFollowed(): boolean;
  /** Reads the newest page, then follows. Resolves with whether the conversation exists. @throws ApiFault, AwayFault */
  start(): Promise<boolean>;
  /** Resolves when older messages were loaded, or there are none. */
  loadOlder(): Promise<void>;
  close(): void;
}

export function watchSession({ user, conversationKey, onLink }: Options): SessionWatch {
  const conversation = new Conversation();
  const path = sessionPath(conversationKey);
  let stream: { close(): void } | null = null;
  let mayFollow = false;
  let closed = false;
  let unseen: ReturnType<typeof setTimeout> | undefined;

  const { readNewest, loadOlder } = createHistoryPages({
    conversation,
    read: (before) => get<History>(withQuery(`${path}/history`, { before, limit: pageSize })),
  });
  /** Nothing is missing between the history that was read and what the stream brings. */
  let isComplete = false;
  const complete = async () => {
    if (isComplete) return;
    // What cannot be read now is read when the stream begins again.
    isComplete = await readNewest().then(
      () => true,
      () => false,
    );
  };

  function begin(): void {
    mayFollow = true;
    if (stream !== null || closed) return;
    // What ended after the history was read and before this tab hears the stream would be in neither.
    isComplete = false;
    stream = openSharedStream({
      name: `svc-session-${user}-${conversationKey}`,
      url: `${path}/stream`,
      headers: authHeaders,
      onState: onLink,
      onEvent(type, data) {
        const frame = toChatFrame({ ...(data as object), type } as SessionStreamFrame);
        if (frame === null) return;
        if (frame.type === 'gap') isComplete = false;
        if (frame.type === 'gap' || frame.type === 'ready') void complete();
        conversation.apply(frame);
      },
      snapshot: () => conversation.running(),
      adopt(turns) {
        conversation.adopt(turns as Turn[]);
        void complete();
      },
    });
  }

  const look = () => {
    clearTimeout(unseen);
    if (document.visibilityState === 'visible') {
      if (mayFollow) begin();
      return;
    }
    unseen = setTimeout(() => {
      stream?.close();
      stream = null;
    }, unseenMs);
  };
  document.addEventListener('visibilitychange', look);

  return {
    conversation,
    begin,
    isFollowed: () => mayFollow,
    async start() {
      try {
        await readNewest();
      } catch (error) {
        if (error instanceof ApiFault && error.status === 404) return false;
        throw error;
      }
      begin();
      return true;
    },
    loadOlder,
    close() {
      closed = true;
      clearTimeout(unseen);
      document.removeEventListener('visibilitychange', look);
      stream?.close();
    },
  };
}
