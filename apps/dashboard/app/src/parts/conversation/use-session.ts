import type { LinkState } from '@svc/chat-ui/stream/live-stream.ts';
import { useCallback, useEffect, useState } from 'react';
import { useLogin } from '../../shell/login.tsx';
import { type SessionWatch, watchSession } from './watch-session.ts';
import { isOwnConversation, openWebChat, type WebChat } from './web-chat.ts';

type Open = { watch: SessionWatch; chat: WebChat | null };
/** `missing`: the conversation does not exist, and cannot be started here. */
export type SessionState = { open: Open | null; link: LinkState; fault: Error | null; isMissing: boolean; retry(): void };

/** A conversation while it is shown, with what is needed to write into it when it is the person's own. */
export function useSession(key: string): SessionState {
  const { user, proofs } = useLogin();
  const [open, setOpen] = useState<Open | null>(null);
  const [link, setLink] = useState<LinkState>('connecting');
  const [fault, setFault] = useState<Error | null>(null);
  const [isMissing, setMissing] = useState(false);
  const [attempt, setAttempt] = useState(0);

  useEffect(() => {
    let isShown = true;
    const isOwn = isOwnConversation(user, key);
    const watch = watchSession({ user, conversationKey: key, onLink: setLink });
    const chat = isOwn ? openWebChat({ user, conversationKey: key, watch }) : null;
    setFault(null);
    setMissing(false);
    setOpen(isOwn ? { watch, chat } : null);
    watch.start().then(
      (isThere) => {
        if (!isShown) return;
        if (!isThere && !isOwn) setMissing(true);
        else setOpen({ watch, chat });
        void chat?.resume();
      },
      (error: unknown) => {
        if (isShown) setFault(error instanceof Error ? error : new Error(String(error)));
      },
    );
    return () => {
      isShown = false;
      watch.close();
      chat?.close();
    };
    // A refused stream is opened again after the person has signed in.
  }, [user, proofs, key, attempt]);

  const retry = useCallback(() => setAttempt((before) => before + 1), []);
  return { open, link, fault, isMissing, retry };
}
