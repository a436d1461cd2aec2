import { type LinkState, openLiveStream, silenceMs } from './live-stream.ts';

type Shared =
  | { kind: 'event'; type: string; data: unknown; id: string }
  | { kind: 'state'; state: LinkState }
  | { kind: 'hello' }
  | { kind: 'snapshot'; snapshot: unknown; id: string; state: LinkState };

type Options = {
  /** Name that the sharing tabs have in common: device and conversation. */
  name: string;
  url: string;
  /** The authorization headers, requested for each attempt. */
  headers(): Record<string, string>;
  onEvent(type: string, data: unknown): void;
  onState(state: LinkState): void;
  /** State that a later tab has missed; its `adopt` receives it. */
  snapshot(): unknown;
  /** Called in every tab that does not read, whenever one opens. What was over before is not in the snapshot. */
  adopt(snapshot: unknown): void;
};

/** The reading tab reports this often at most that it still receives data. */
const tellEveryMs = 5000;

/**
 * One stream for all tabs of a browser: the one that holds the lock reads, and passes it on. Six connections are all that HTTP/1.1 has for a
 * host, and each stream holds one. Who takes the lock over goes on from the last event that it heard; from a tab that has gone silent, as browsers
 * freeze those in the background, one that is in sight takes it.
 */
export function openSharedStream({ name, url, headers, onEvent, onState, snapshot, adopt }: Options): { close(): void } {
  const channel = new BroadcastChannel(name);
  const end = new AbortController();
  let lastId = '';
  let state: LinkState = 'connecting';
  let stream: { close(): void } | null = null;
  /** It is waiting for the lock. */
  let waits = false;
  let toldAt = -Infinity;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const post = (message: Shared) => channel.postMessage(message);
  const changeState = (next: LinkState) => {
    if (next === state) return;
    state = next;
    onState(next);
  };

  /** Waits for the tab that reads to say something. */
  const listen = () => {
    clearTimeout(timer);
    if (state === 'refused' || end.signal.aborted) return;
    timer = setTimeout(() => {
      changeState('away');
      if (document.visibilityState === 'visible') void lead(true);
      listen();
    }, silenceMs + tellEveryMs);
  };

  channel.addEventListener('message', ({ data }: MessageEvent<Shared>) => {
    if (data.kind === 'hello' && stream !== null) post({ kind: 'snapshot', snapshot: snapshot(), id: lastId, state });
    if (stream !== null || data.kind === 'hello') return;
    if (data.kind !== 'event') changeState(data.state);
    if (data.kind !== 'state') lastId = data.id;
    if (data.kind === 'event') onEvent(data.type, data.data);
    if (data.kind === 'snapshot') adopt(data.snapshot);
    listen();
  });

  const open = (onRefused: () => void) =>
    openLiveStream({
      url,
      headers,
      lastId,
      onEvent(type, data, id) {
        lastId = id;
        onEvent(type, data);
        post({ kind: 'event', type, data, id });
      },
      onState(next) {
        if (next === state && next === 'live' && performance.now() - toldAt < tellEveryMs) return;
        toldAt = performance.now();
        changeState(next);
        post({ kind: 'state', state: next });
        if (next === 'refused') onRefused();
      },
    });
  const stop = () => {
    stream?.close();
    stream = null;
  };

  /** Reads while the lock is held: to the end of this tab, or until its person is let in no more. */
  const read = () =>
    new Promise<void>((resolve) => {
      if (end.signal.aborted) return resolve();
      waits = false;
      clearTimeout(timer);
      end.signal.addEventListener('abort', () => resolve());
      stream ??= open(() => {
        stop();
        resolve();
      });
    });

  async function lead(steals: boolean): Promise<void> {
    if (waits && !steals) return;
    waits ||= !steals;
    try {
      // A request that steals the lock accepts no signal.
      await navigator.locks.request(name, steals ? { steal: true } : { signal: end.signal }, read);
    } catch (error) {
      if (end.signal.aborted || !(error instanceof DOMException && error.name === 'AbortError')) return;
      // Another tab has taken it: this one listens, and waits for its turn.
      stop();
      listen();
      void lead(false);
    }
  }

  onState(state);
  listen();
  post({ kind: 'hello' });
  void lead(false);

  return {
    close() {
      end.abort();
      clearTimeout(timer);
      stop();
      channel.close();
    },
  };
}
