import type { Answered, AnswerRequest } from '@svc/contract/ask.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { TurnFrame } from '@svc/contract/turn.ts';
import { maxAnswerBytes, openRequest, requestJson } from '@svc/service-kit/http/json-client.ts';
import { BodyTooLarge, readBody } from '@svc/service-kit/http/read-body.ts';
import { CliError, notRunning, unexpectedResponse } from '../cli-error.ts';
import { readEvents } from '../sse-reader.ts';
import { whileRestarting } from '../while-restarting.ts';

export type TurnEnd = Extract<TurnFrame, { type: 'result' | 'error' }>;

type Options = {
  onFrame: (frame: TurnFrame) => void;
  /** The message has its place in the queue: messages sent from now on come after it. */
  onAccepted?: () => void;
  signal?: AbortSignal;
  /** A person is present who can answer the assistant's questions. */
  showsAsks?: boolean;
};

/** The connection broke. The core has the message, and runs it again once it is back. */
export class CoreAway extends CliError {}

/** Engines may work for hours, so only silence ends a turn here. The core sends a sign of life every 15 s. */
const longestTurnMs = 24 * 60 * 60 * 1000;
const silenceMs = 60_000;

/** Runs one envelope in the core and passes on each frame as it arrives. The last frame is the answer. */
export async function streamTurn(
  coreUrl: string,
  envelope: Envelope,
  { onFrame, onAccepted, signal, showsAsks = false }: Options,
): Promise<TurnEnd> {
  const silence = new AbortController();
  const watchdog = setTimeout(() => silence.abort(), silenceMs);
  const signals = signal === undefined ? silence.signal : AbortSignal.any([silence.signal, signal]);
  try {
    const request = { body: envelope, timeoutMs: longestTurnMs, signal: signals, headers: { accept: 'text/event-stream' } };
    const response = await whileRestarting(() => openRequest(`${coreUrl}/v2/handle${showsAsks ? '?asks=true' : ''}`, request));
    onAccepted?.();
    const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
    if (!isStream) return await readRefusal(response, coreUrl);
    return await readFrames(response.setEncoding('utf8') as AsyncIterable<string>, onFrame, () => watchdog.refresh());
  } catch (error) {
    if (silence.signal.aborted)
      throw new CliError(`the core has said nothing for ${silenceMs / 1000} s.`, { run: './svc status', cause: error });
    throw toChatError(error, coreUrl);
  } finally {
    clearTimeout(watchdog);
  }
}

async function readFrames(
  text: AsyncIterable<string>,
  onFrame: (frame: TurnFrame) => void,
  onSign: () => void,
): Promise<TurnEnd> {
  let end: TurnEnd | null = null;
  for await (const { data } of readEvents(withSigns(text, onSign))) {
    const frame = JSON.parse(data) as TurnFrame;
    if (frame.type === 'result' || frame.type === 'error') end = frame;
    else onFrame(frame);
  }
  if (end === null) throw new CoreAway('the core ended in the middle of the answer.', { run: './svc logs core' });
  return end;
}

/** A comment that keeps the connection open is not an event, but it is a sign of life. */
async function* withSigns(text: AsyncIterable<string>, onSign: () => void): AsyncGenerator<string> {
  for await (const part of text) {
    onSign();
    yield part;
  }
}

/** A refusal before the stream begins is a plain error body. */
async function readRefusal(response: AsyncIterable<unknown>, coreUrl: string): Promise<TurnEnd> {
  try {
    return { type: 'error', error: JSON.parse((await readBody(response, maxAnswerBytes)).toString('utf8')) };
  } catch (error) {
    throw error instanceof SyntaxError || error instanceof BodyTooLarge ? unexpectedResponse(coreUrl, error) : error;
  }
}

/** True when a turn was running and is being ended. */
export async function abortTurn(coreUrl: string, conversationKey: string): Promise<boolean> {
  const { status } = await requestJson(`${coreUrl}/v2/abort`, { body: { conversation_key: conversationKey }, timeoutMs: 5000 });
  return status === 200;
}

/** Answers a question. Returns the chosen answer, or the core's reason for refusing it. */
export async function answerAsk(coreUrl: string, askId: string, answer: AnswerRequest): Promise<string> {
  const url = `${coreUrl}/v2/asks/${encodeURIComponent(askId)}/answer`;
  const { status, body } = await requestJson(url, { body: answer, timeoutMs: 5000 });
  return status === 200 ? `Answered: ${(body as Answered).label}` : (body as ErrorBody).message;
}

function toChatError(error: unknown, coreUrl: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED') return notRunning(error, { why: `Nothing answers at ${coreUrl}.` });
  if (code === 'ECONNRESET' || code === 'EPIPE' || message === 'aborted') {
    return new CoreAway('the core went down in the middle of the answer.', {
      why: 'If it crashed, it is started again at once.',
      run: './svc status',
      cause: error,
    });
  }
  return error;
}
