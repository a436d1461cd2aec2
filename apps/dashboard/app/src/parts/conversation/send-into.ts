import { createBackOff } from '@svc/chat-ui/stream/back-off.ts';
import { silenceMs } from '@svc/chat-ui/stream/live-stream.ts';
import { readBody } from '@svc/chat-ui/stream/read-events.ts';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { InjectAnswer } from '@svc/contract/session.ts';
import { ApiFault, AwayFault, callRaw } from '../api.ts';

type Words = { conversation_key: string; text: string; interrupt: boolean };
type Named = Words & { message_id: string };

/** The longest time of a turn. */
const turnMs = 6 * 60 * 60_000;
/** By conversation: the text of which it is unknown whether the service has it. Sent again, it has the same id, so it is used once. */
const unknown = new Map<string, Named>();

/**
 * Sends an operator's text into a conversation, and resolves with its result when the turn is over. Once accepted, the result is requested until it
 * arrives, also over broken connections.
 * @throws ApiFault when the text is refused or its turn fails, AwayFault or ApiFault when it is unknown whether it was accepted
 */
export async function sendInto(words: Words): Promise<InjectAnswer> {
  const { conversation_key: key, text } = words;
  const before = unknown.get(key);
  const named = { ...words, message_id: before?.text === text ? before.message_id : crypto.randomUUID() };
  const endsAt = performance.now() + turnMs;
  const backOff = createBackOff();
  let isTaken = false;
  for (;;) {
    try {
      const answer = await ask(named, { isQuiet: isTaken, onTaken: () => (isTaken = true) });
      unknown.delete(key);
      return answer;
    } catch (error) {
      const isFinal = error instanceof ApiFault && (isTaken ? isEnd(error) : error.status > 0 && error.status < 500);
      if (isFinal) unknown.delete(key);
      else unknown.set(key, named);
      if (isFinal || !isTaken || performance.now() >= endsAt) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, backOff.next()));
  }
}

/** A failed turn is reported within the stream. A service that stops answers accepted messages when it is back. */
const isEnd = ({ status, code }: ApiFault): boolean => status === 200 && code !== 'unavailable';

type Asking = { isQuiet: boolean; onTaken(): void };

/** Read as a stream: it reports at once that the text is accepted, and then that the service is alive, however long the turn takes. */
async function ask(words: Named, { isQuiet, onTaken }: Asking): Promise<InjectAnswer> {
  const silence = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let end: { result: InjectAnswer } | { error: ErrorBody } | undefined;
  const { signal } = silence;
  const headers = { accept: 'text/event-stream' };
  const path = '/core/v2/inject?accepted=true';
  try {
    const { body, status } = await callRaw('POST', path, { body: words, headers, timeoutMs: turnMs, signal, isQuiet });
    await readBody(body as NonNullable<Response['body']>, {
      onAlive() {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), silenceMs);
      },
      onEvent({ event, data }) {
        if (event === 'accepted') onTaken();
        if (event === 'result' || event === 'error') end = JSON.parse(data) as NonNullable<typeof end>;
      },
    });
    if (end === undefined) throw new Error('the answer broke off');
    if ('error' in end) throw new ApiFault(status, end.error);
    return end.result;
  } catch (error) {
    throw error instanceof ApiFault || error instanceof AwayFault ? error : new AwayFault(error);
  } finally {
    clearTimeout(timer);
  }
}
