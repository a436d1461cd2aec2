import { createBackOff } from './back-off.ts';
import { readEvents } from './read-events.ts';

/**
 * `live`: data arrived in the last 35 s. `away`: reconnecting. `refused`: the token is no longer valid, and there is no retry.
 */
export type LinkState = 'connecting' | 'live' | 'away' | 'refused';

type Options = {
  url: string;
  /** The authorization headers, requested for each attempt. */
  headers(): Record<string, string>;
  lastId?: string;
  onEvent(type: string, data: unknown, id: string): void;
  onState(state: LinkState): void;
};

/** The server sends a comment every 15 s: after two missing ones the connection is dead, whatever the socket reports. */
export const silenceMs = 35_000;

/**
 * Keeps an event stream open until it is closed. After silence, sleep or a network change it reconnects and continues from the
 * last event.
 */
export function openLiveStream({ url, headers, lastId = '', onEvent, onState }: Options): { close(): void } {
  let last = lastId;
  const backOff = createBackOff();
  let attempt: AbortController | null = null;
  let heardAt = performance.now();
  let closed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const later = (run: () => void, ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(run, ms);
  };
  const alive = () => {
    heardAt = performance.now();
    backOff.reset();
    onState('live');
    later(fallSilent, silenceMs);
  };
  const fallSilent = () => {
    onState('away');
    void connect();
  };
  const deliver = ({ event, data, id }: { event?: string | undefined; data: string; id?: string | undefined }) => {
    const value = parse(data);
    if (value !== undefined) onEvent(event ?? 'message', value, id ?? last);
    if (id !== undefined) last = id;
  };

  async function connect(): Promise<void> {
    attempt?.abort();
    clearTimeout(timer);
    if (closed) return;
    const mine = new AbortController();
    attempt = mine;
    const isMine = () => attempt === mine && !closed;
    // A server that accepts the connection but sends nothing counts as unreachable.
    later(fallSilent, silenceMs);
    try {
      const end = await readEvents({
        url,
        headers: headers(),
        lastId: last,
        signal: mine.signal,
        onAlive: () => isMine() && alive(),
        onEvent: (event) => isMine() && deliver(event),
      });
      if (!isMine()) return;
      if (end.status === 'refused' && (end.code === 401 || end.code === 403)) {
        close();
        return onState('refused');
      }
    } catch {
      if (!isMine()) return; // the network is away: tried again below
    }
    onState('away');
    later(() => void connect(), backOff.next());
  }

  /** The page is back, or the network: what is not known to be alive is tried at once. */
  const wake = () => {
    const silentMs = performance.now() - heardAt;
    if (document.visibilityState !== 'visible' || silentMs < 16_000) return;
    backOff.reset();
    if (silentMs >= silenceMs) onState('away');
    void connect();
  };
  const online = () => {
    backOff.reset();
    void connect();
  };
  const offline = () => {
    onState('away');
  };

  function close(): void {
    closed = true;
    clearTimeout(timer);
    attempt?.abort();
    removeEventListener('online', online);
    removeEventListener('offline', offline);
    removeEventListener('pageshow', wake);
    document.removeEventListener('visibilitychange', wake);
  }

  addEventListener('online', online);
  addEventListener('offline', offline);
  addEventListener('pageshow', wake);
  document.addEventListener('visibilitychange', wake);
  onState('connecting');
  void connect();
  return { close };
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return undefined; // a frame that nobody understands is left out, as unknown types are
  }
}
