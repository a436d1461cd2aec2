import { createParser, type EventSourceMessage } from 'eventsource-parser';

type Request = {
  url: string;
  headers: Record<string, string>;
  /** The id of the last event that was taken; empty for none. */
  lastId: string;
  signal: AbortSignal;
  /** Whatever comes, comments too: it is alive. */
  onAlive(): void;
  onEvent(event: EventSourceMessage): void;
};

/** How reading a stream ended: the server closed it, or answered something else at once. */
export type StreamEnd = { status: 'ended' } | { status: 'refused'; code: number };

/** One event is at most so long; a server that sends more is none of ours. */
const maxBufferSize = 4 * 1024 * 1024;

/**
 * Reads server-sent events by `fetch`, which, unlike `EventSource`, can send a header and sees comments.
 * @throws what `fetch` throws: the network is away, or `signal` ended it.
 */
export async function readEvents({ url, headers, lastId, signal, onAlive, onEvent }: Request): Promise<StreamEnd> {
  const response = await fetch(url, {
    headers: { ...headers, accept: 'text/event-stream', ...(lastId === '' ? {} : { 'last-event-id': lastId }) },
    signal,
    cache: 'no-store',
    redirect: 'manual',
  });
  if (!response.ok || response.body === null) return { status: 'refused', code: response.status };
  onAlive();
  const parser = createParser({ onEvent, maxBufferSize });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return { status: 'ended' };
    onAlive();
    parser.feed(value);
  }
}
