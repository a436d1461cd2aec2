import type { LinkState } from '@svc/chat-ui/stream/live-stream.ts';
import { openSharedStream } from '@svc/chat-ui/stream/shared-stream.ts';
import type { LiveFrame } from '@svc/contract/live.ts';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { authHeaders } from './api.ts';
import { queryClient, refreshUnasked } from './query.ts';

/** The shortest time between two reads, however much happens. */
const everyMs = 1000;

/** The paths whose data changes with an event. */
const changedBy: Readonly<Record<string, readonly string[]>> = {
  turn: ['/core/v2/session'],
  session: ['/core/v2/session'],
  ask: ['/core/v2/asks'],
  asked: ['/core/v2/asks'],
  delivery: ['/core/v2/deliveries'],
  trust: ['/core/trust/'],
  denied: ['/core/trust/pending', '/core/trust/audit'],
  spend: ['/core/v2/spend'],
  engine: ['/core/v2/engines'],
  announcement: ['/core/v2/announcements'],
  service: ['/core/health', '/manager/health', '/collector/health', '/manager/instances'],
  instance: ['/manager/instances'],
  'token-usage': ['/core/v2/spend', '/collector/api/usage'],
};

/** The same for any other frame. When a process cannot say what was missed, all of its data is old. */
function changedByFrame(frame: LiveFrame): readonly string[] {
  switch (frame.type) {
    case 'event':
      return changedBy[frame.kind] ?? [];
    case 'sessions-changed':
      return ['/collector/api/sessions', '/collector/api/who', '/collector/api/map', '/core/v2/sessions'];
    case 'control':
      return ['/collector/api/control/audit'];
    case 'away':
      return [`/${frame.of}/health`];
    case 'gap':
      return frame.of === 'core' ? ['/'] : ['/collector/'];
    default:
      return [];
  }
}

type Listener = (frame: LiveFrame) => void;
type Live = { state: LinkState; listen(listener: Listener): () => void };

const LiveContext = createContext<Live>({ state: 'connecting', listen: () => () => undefined });

/** The state of the connection, and the events of the service. */
export const useLive = (): Live => useContext(LiveContext);

/** Calls `listener` with each event of the service. */
export function useFrames(listener: Listener): void {
  const { listen } = useLive();
  const current = useRef(listener);
  current.current = listener;
  useEffect(() => listen((frame) => current.current(frame)), [listen]);
}

/** Collects paths, and reads them again together. */
function createRefresher() {
  const waiting = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (paths: readonly string[]) => {
    if (paths.length === 0) return;
    for (const path of paths) waiting.add(path);
    timer ??= setTimeout(() => {
      timer = undefined;
      const all = [...waiting];
      waiting.clear();
      void refreshUnasked(queryClient, all);
    }, everyMs);
  };
}

/** `proofs`: everything reconnects when it changes. What the page shows stays as it is. */
type LiveProps = { user: string; proofs: number; onRefused(): void; children: ReactNode };

/** The events of core and collector, read once for all tabs of the browser. `onRefused`: the login has ended. */
export function LiveProvider({ user, proofs, onRefused, children }: LiveProps) {
  const [state, setState] = useState<LinkState>('connecting');
  const listeners = useRef(new Set<Listener>());
  const refused = useRef(onRefused);
  refused.current = onRefused;

  useEffect(() => {
    const again = createRefresher();
    const stream = openSharedStream({
      name: `svc-live-${user}`,
      url: '/live',
      headers: authHeaders,
      snapshot: () => null,
      adopt: () => undefined,
      onState(next) {
        setState(next);
        if (next === 'refused') refused.current();
      },
      onEvent(type, data) {
        const frame = { ...(data as object), type } as LiveFrame;
        again(changedByFrame(frame));
        for (const listener of listeners.current) listener(frame);
      },
    });
    return () => stream.close();
  }, [user, proofs]);

  const live = useMemo<Live>(
    () => ({
      state,
      listen(listener) {
        listeners.current.add(listener);
        return () => listeners.current.delete(listener);
      },
    }),
    [state],
  );
  return <LiveContext value={live}>{children}</LiveContext>;
}
