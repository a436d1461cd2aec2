import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { http, type IncomingMessage } from '@svc/service-kit/builtin.ts';
import type { Clock } from '@svc/service-kit/clock.ts';

/** A process sends a comment each 15 s: after two that did not come it hangs, whatever the connection says. */
export const silenceMs = 35_000;
const maxEventBytes = 4 * 1024 * 1024;

type Options = {
  url: string;
  headers: Record<string, string>;
  signal: AbortSignal;
  clock: Pick<Clock, 'after'>;
  onOpen(): void;
  onEvent(event: EventSourceMessage): void;
};

/**
 * Reads the events of a process until it ends them.
 * @throws when it does not answer, refuses, breaks off or is silent for 35 s, and when `signal` ends it
 */
export async function followFeed({ url, headers, signal, clock, onOpen, onEvent }: Options): Promise<void> {
  const silent = new AbortController();
  const hear = () => clock.after(silenceMs, () => silent.abort(new Error('it was silent for too long')));
  let stop = hear();
  const isAlive = () => {
    stop();
    stop = hear();
  };
  try {
    const response = await open(url, headers, AbortSignal.any([signal, silent.signal]));
    onOpen();
    const parser = createParser({ onEvent, maxBufferSize: maxEventBytes });
    response.setEncoding('utf8');
    for await (const text of response as AsyncIterable<string>) {
      isAlive();
      parser.feed(text);
    }
  } finally {
    stop();
  }
}

/** On a connection of its own, which ends with it. */
function open(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { agent: false, signal, headers: { accept: 'text/event-stream', ...headers } });
    request.once('response', (response) => {
      if (response.statusCode === 200) return resolve(response);
      request.destroy();
      reject(new Error(`it answered ${response.statusCode}`));
    });
    request.on('error', reject);
    request.end();
  });
}
