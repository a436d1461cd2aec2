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

/** One event is at most so long; a server that sends more is not ours. */
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
  await readBody(response.body, { onAlive, onEvent });
  return { status: 'ended' };
}

/** Reads the events of an answer until it ends. @throws when it breaks */
export async function readBody(
  body: NonNullable<Response['body']>,
  { onAlive, onEvent }: Pick<Request, 'onAlive' | 'onEvent'>,
): Promise<void> {
  const parser = createParser({ onEvent, maxBufferSize });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    onAlive();
    parser.feed(value);
  }
}
