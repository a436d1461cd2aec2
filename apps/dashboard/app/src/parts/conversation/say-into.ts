import { createBackOff } from '@svc/chat-ui/stream/back-off.ts';
import { silenceMs } from '@svc/chat-ui/stream/live-stream.ts';
import { readBody } from '@svc/chat-ui/stream/read-events.ts';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { InjectAnswer } from '@svc/contract/session.ts';
import { ApiFault, AwayFault, callRaw } from '../api.ts';

type Words = { conversation_key: string; text: string; interrupt: boolean };
type Named = Words & { message_id: string };

/** As long as a turn may take. */
const turnMs = 6 * 60 * 60_000;
/** The words of each conversation of which it is unknown whether they were taken. Said again, they have the same id, and are said once. */
const unknown = new Map<string, Named>();

/**
 * Says an operator's words in a conversation, and gives what became of them when their turn is over. Once they are taken, that is asked for until it
 * comes, over lines that break.
 * @throws ApiFault when they are refused or their turn fails, AwayFault or ApiFault when it is unknown whether they were taken
 */
export async function sayInto(words: Words): Promise<InjectAnswer> {
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

/** A turn that has failed says so within the stream. A service that stops answers what it has taken when it is back. */
const isEnd = ({ status, code }: ApiFault): boolean => status === 200 && code !== 'unavailable';

type Asking = { isQuiet: boolean; onTaken(): void };

/** Read as a stream, which says at once that the words are taken, and goes on saying that the service is alive, however long the turn is. */
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
