import type { LinkState } from '@svc/chat-ui/stream/live-stream.ts';
import type { LiveFrame } from '@svc/contract/live.ts';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useLogin } from '../../shell/login.tsx';
import { useFrames } from '../live.tsx';
import { type SessionWatch, watchSession } from './watch-session.ts';
import { isOwnConversation, openWebChat, type WebChat } from './web-chat.ts';

type Open = { watch: SessionWatch; chat: WebChat | null };
/** `missing`: the conversation does not exist, and cannot be started here. */
export type SessionState = { open: Open | null; link: LinkState; fault: Error | null; isMissing: boolean; retry(): void };

/** The shortest time between two looks at a conversation that does not exist. */
const lookEveryMs = 1000;

/** A conversation may exist now that did not before: another tab, or a page that was left, has sent its first message. */
const mayHaveBegun = (frame: LiveFrame): boolean =>
  frame.type === 'ready' ||
  frame.type === 'gap' ||
  (frame.type === 'event' && (frame.kind === 'turn' || frame.kind === 'session'));

/** A conversation while it is shown, with what is needed to write into it when it is the person's own. */
export function useSession(key: string): SessionState {
  const { user, proofs } = useLogin();
  const [open, setOpen] = useState<Open | null>(null);
  const [link, setLink] = useState<LinkState>('connecting');
  const [fault, setFault] = useState<Error | null>(null);
  const [isMissing, setMissing] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const lookAgain = useRef<() => void>(() => undefined);
  useFrames((frame) => mayHaveBegun(frame) && lookAgain.current());

  useEffect(() => {
    let isShown = true;
    const isOwn = isOwnConversation(user, key);
    const watch = watchSession({ user, conversationKey: key, onLink: setLink });
    const chat = isOwn ? openWebChat({ user, conversationKey: key, watch }) : null;
    let isResumed = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    setFault(null);
    setMissing(false);
    setOpen(isOwn ? { watch, chat } : null);
    const start = () =>
      watch.start().then(
        (isThere) => {
          if (!isShown) return;
          setFault(null);
          setMissing(!isThere && !isOwn);
          if (isThere && !isOwn) setOpen({ watch, chat });
          if (!isResumed) void chat?.resume();
          isResumed = true;
        },
        (error: unknown) => {
          if (isShown) setFault(error instanceof Error ? error : new Error(String(error)));
        },
      );
    void start();
    lookAgain.current = () => {
      if (watch.isFollowed()) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        if (!watch.isFollowed()) void start();
      }, lookEveryMs);
    };
    return () => {
      isShown = false;
      clearTimeout(timer);
      lookAgain.current = () => undefined;
      watch.close();
      chat?.close();
    };
    // A refused stream is opened again after the person has signed in.
  }, [user, proofs, key, attempt]);

  const retry = useCallback(() => setAttempt((before) => before + 1), []);
  return { open, link, fault, isMissing, retry };
}
