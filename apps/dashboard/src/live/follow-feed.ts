import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { http, type IncomingMessage } from '@svc/service-kit/builtin.ts';
import type { Clock } from '@svc/service-kit/clock.ts';

/** A process sends a comment every 15 s: after two missing ones it hangs, even if the connection is open. */
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
 * @throws when it does not answer, refuses, breaks off, is silent for 35 s, or `signal` aborts
 */
export async function followFeed({ url, headers, signal, clock, onOpen, onEvent }: Options): Promise<void> {
  const silent = new AbortController();
  const startTimer = () => clock.after(silenceMs, () => silent.abort(new Error('it sent nothing for too long')));
  let stop = startTimer();
  const restartTimer = () => {
    stop();
    stop = startTimer();
  };
  try {
    const response = await open(url, headers, AbortSignal.any([signal, silent.signal]));
    onOpen();
    const parser = createParser({ onEvent, maxBufferSize: maxEventBytes });
    response.setEncoding('utf8');
    for await (const text of response as AsyncIterable<string>) {
      restartTimer();
      parser.feed(text);
    }
  } finally {
    stop();
  }
}

/** On a connection of its own, which ends with the request. */
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
