import type { LinkState } from './live-stream.ts';
import { openLiveStream } from './live-stream.ts';

type Shared =
  | { kind: 'event'; type: string; data: unknown; id: string }
  | { kind: 'state'; state: LinkState }
  | { kind: 'hello' }
  | { kind: 'snapshot'; snapshot: unknown; id: string; state: LinkState };

type Options = {
  /** Of the tabs that share it: device and conversation. */
  name: string;
  url: string;
  /** What lets its reader in, asked for with each attempt. */
  headers(): Record<string, string>;
  onEvent(type: string, data: unknown): void;
  onState(state: LinkState): void;
  /** What a tab that came later has missed; taken by `adopt` there. */
  snapshot(): unknown;
  adopt(snapshot: unknown): void;
};

/**
 * One stream for all tabs of a browser: the one that holds the lock reads, and tells the others. Six connections are all that HTTP/1.1 has for a
 * host, and each stream holds one. Who takes the lock over goes on from the last event that it heard.
 */
export function openSharedStream({ name, url, headers, onEvent, onState, snapshot, adopt }: Options): { close(): void } {
  const channel = new BroadcastChannel(name);
  const end = new AbortController();
  let lastId = '';
  let state: LinkState = 'connecting';
  let leads = false;

  const post = (message: Shared) => channel.postMessage(message);
  const changeState = (next: LinkState) => {
    state = next;
    onState(next);
  };

  channel.addEventListener('message', ({ data }: MessageEvent<Shared>) => {
    if (data.kind === 'hello' && leads) post({ kind: 'snapshot', snapshot: snapshot(), id: lastId, state });
    if (leads || data.kind === 'hello') return;
    if (data.kind === 'state') return changeState(data.state);
    lastId = data.id;
    if (data.kind === 'event') return onEvent(data.type, data.data);
    changeState(data.state);
    adopt(data.snapshot);
  });
  post({ kind: 'hello' });

  const lead = () =>
    new Promise<void>((resolve) => {
      leads = true;
      const stream = openLiveStream({
        url,
        headers,
        lastId,
        onEvent(type, data, id) {
          lastId = id;
          onEvent(type, data);
          post({ kind: 'event', type, data, id });
        },
        onState(next) {
          if (next === state && next === 'live') return;
          changeState(next);
          post({ kind: 'state', state: next });
        },
      });
      end.signal.addEventListener('abort', () => {
        stream.close();
        resolve();
      });
    });
  // Rejects when this tab ends while it still waits for the lock.
  navigator.locks.request(name, { signal: end.signal }, lead).catch(() => undefined);

  return {
    close() {
      end.abort();
      channel.close();
    },
  };
}
