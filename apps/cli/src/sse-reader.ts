import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** One server-sent event; `event` is missing when the server named none. */
export type SseEvent = EventSourceMessage;

/** The events of a stream as they become complete. The text must be decoded in stream mode. */
export async function* readEvents(text: AsyncIterable<string>): AsyncGenerator<SseEvent> {
  let complete: SseEvent[] = [];
  const parser = createParser({ onEvent: (event) => complete.push(event) });
  for await (const part of text) {
    parser.feed(part);
    yield* complete;
    complete = [];
  }
}
