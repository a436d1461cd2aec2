import { readFile } from 'node:fs/promises';
import type { EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';
import { isTerminal } from '@svc/engine-kit/guard-events.ts';
import { endOnAbort } from '@svc/engine-kit/end-on-abort.ts';
import { endingIn } from '@svc/engine-kit/failure-kind.ts';
import { createEventQueue } from '@svc/engine-kit/event-queue.ts';
import { estimateUsage } from '@svc/engine-kit/usage.ts';
import { toolServerMissing } from '@svc/engine-kit/tool-server-missing.ts';
import { allowedToolServers, isImage, turnText } from '@svc/engine-kit/turn-text.ts';
import type { Attachment } from '@svc/contract/envelope.ts';
import { shownTexts } from '@svc/engine-kit/shown-texts.ts';
import type { ClaudeInit, ClaudeMessage, ClaudeResult, ClaudeUserMessage, ImageBlock } from './claude-messages.ts';
import { answerLimitMs, type Conversation, type TurnListener } from './conversation.ts';
import { refusal } from './key-in-settings.ts';
import { missingServers, toEngineEvents, toUsage } from './to-engine-event.ts';
import { isUnknownSession, longWait, toFailure } from './to-failure.ts';

/** How a turn ended: with its terminal event, or in a way that a fresh program may still mend. */
export type TurnOutcome = 'finished' | 'session_unknown' | 'program_gone';

type Options = {
  isNew: boolean;
  allowsKey: boolean;
  /** When a limit for the model ends of which the program has not said it, ms from now. */
  askLimitEnd?(model: string | null): Promise<number | null>;
};

/** From an interrupt to its result. Past it the program is ended. */
const interruptLimitMs = 1000;

/** The program would wait in silence as long as the vendor asks it to. Past this the turn had better fail. */
const maxWaitMs = 10_000;

/** Runs one turn in an open conversation and passes its events on. */
export async function* runTurn(
  conversation: Conversation,
  request: EngineRequest,
  { isNew, allowsKey, askLimitEnd }: Options,
  signal: AbortSignal,
): AsyncGenerator<EngineEvent, TurnOutcome> {
  const content = await toUserContent(request, isNew);
  if (!(await orKilled(conversation.setToolServers(request), conversation, signal))) {
    await conversation.kill();
    return 'program_gone';
  }
  if (signal.aborted) return 'finished';
  const queue = createEventQueue();
  const wasUsed = conversation.used;
  const turn = {
    said: 0,
    word: null as string | null,
    resetsAt: null as number | null,
    model: null as string | null,
    announced: false,
    silent: true,
  };
  let outcome: TurnOutcome = 'finished';

  const finish = (...events: EngineEvent[]) => {
    for (const event of events) queue.push(event);
    queue.end();
  };
  const estimated = (): EngineEvent => ({
    type: 'usage',
    usage: estimateUsage({ input: request.text, output: { length: turn.said } }),
  });
  const give = (lost: Exclude<TurnOutcome, 'finished'>) => {
    outcome = lost;
    queue.end();
  };

  const onMessage = (message: ClaudeMessage) => {
    clearTimeout(hangTimer);
    if (message.type === 'system' && message.subtype === 'init') return onInit(message);
    if (message.type === 'result') return onResult(message);
    turn.silent = false;
    if (message.type === 'assistant' && message.error !== undefined) turn.word = message.error;
    if (isLongRetry(message)) {
      finish({ type: 'failed', failure: longWait(message.error_status, message.retry_delay_ms) });
      return void conversation.close();
    }
    if (message.type === 'rate_limit_event') turn.resetsAt = message.rate_limit_info.resetsAt ?? null;
    for (const event of toEngineEvents(message)) {
      if (event.type === 'delta' || event.type === 'thinking') turn.said += event.text.length;
      queue.push(event);
    }
  };

  const onInit = (message: ClaudeInit) => {
    if (!allowsKey && (message.apiKeySource ?? 'none') !== 'none') {
      finish({
        type: 'failed',
        failure: refusal(`Claude has an API key (${message.apiKeySource}), with which it would bill every turn`),
      });
      void conversation.close();
      return;
    }
    if (turn.announced) return;
    turn.announced = true;
    turn.model = message.model;
    conversation.sessionId = message.session_id;
    queue.push({
      type: 'session',
      engineSessionId: message.session_id,
      resumed: request.resume === message.session_id,
      model: message.model,
    });
    const missing = missingServers(
      message,
      allowedToolServers(request).map(({ name }) => name),
    );
    conversation.missing = missing.map(({ name }) => name);
    for (const { name, why } of missing) queue.push(toolServerMissing(name, why));
  };

  const onResult = (result: ClaudeResult) => {
    if (isUnknownSession(result)) return give('session_unknown');
    const usage = toUsage(result, turn.model);
    const used: EngineEvent | null = usage && { type: 'usage', usage };
    if (signal.aborted) return finish(used ?? estimated(), { type: 'aborted' });
    if (!result.is_error) return finish(used ?? estimated(), { type: 'done' });
    const failure = toFailure(result, { word: turn.word, resetsAt: turn.resetsAt, now: Date.now() });
    return finish(...(used === null ? [] : [used]), { type: 'failed', failure });
  };

  const onEnd: TurnListener['onEnd'] = (reason, overflow = null) => {
    if (signal.aborted) return finish(estimated(), { type: 'aborted' });
    if (overflow !== null) return finish(estimated(), { type: 'failed', failure: overflow });
    if (wasUsed && turn.silent) return give('program_gone');
    return finish({ type: 'failed', failure: { code: 'engine_crashed', message: `${reason} Try again.`, retryable: true } });
  };

  const hangTimer = wasUsed ? setTimeout(() => void conversation.kill(), answerLimitMs) : undefined;
  void queue.ended.then(() => clearTimeout(hangTimer));
  conversation.send(content, { request, onMessage, onEnd });
  endOnAbort(signal, queue, {
    // A refusal means that the turn is over, or that the program is gone: both end the queue on their own.
    interrupt: () => void conversation.query.interrupt().catch(() => undefined),
    kill: () => conversation.kill(),
    graceMs: interruptLimitMs,
    lastWords: () => [estimated()],
  });
  try {
    let usedTools = false;
    for await (const event of queue) {
      usedTools ||= event.type === 'tool';
      // Before the turn is over for anybody: its commands are over then too.
      if (usedTools && isTerminal(event)) await conversation.endOrphans();
      yield event.type === 'failed' && askLimitEnd ? await withLimitEnd(event, () => askLimitEnd(turn.model)) : event;
    }
    return outcome;
  } finally {
    conversation.settle();
    // Nobody listens any more to a program that still speaks.
    if (queue.state !== 'ended') {
      queue.end();
      void conversation.kill();
    }
  }
}

/**
 * What is asked of a program before its turn was sent. Nobody else ends one that hangs there: when the turn is aborted it has
 * a moment to come up. @throws when it was ended.
 */
async function orKilled<T>(work: Promise<T>, conversation: Conversation, signal: AbortSignal): Promise<T> {
  const late = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    timer = setTimeout(() => {
      late.reject(new Error('the program did not come up'));
      void conversation.kill();
    }, interruptLimitMs);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

type Failed = Extract<EngineEvent, { type: 'failed' }>;

async function withLimitEnd({ type, failure }: Failed, ask: () => Promise<number | null>): Promise<Failed> {
  const { code, retryable, retryAfterMs } = failure;
  const isOpen = code === 'engine_rate_limited' && retryable && retryAfterMs === undefined;
  const ms = isOpen ? await ask() : null;
  return { type, failure: ms === null ? failure : endingIn(failure, ms) };
}

type Retry = Extract<ClaudeMessage, { subtype: 'api_retry' }>;
const isLongRetry = (message: ClaudeMessage): message is Retry =>
  message.type === 'system' && message.subtype === 'api_retry' && message.retry_delay_ms > maxWaitMs;

/** Five megabytes of base64, the vendor's limit, less a little. */
const maxImageBytes = 3_700_000;

/** The user message: text, and the images that the model can look at. What cannot be shown is named by path. */
export async function toUserContent(request: EngineRequest, isNew: boolean): Promise<ClaudeUserMessage['message']['content']> {
  const images: { file: Attachment; block: ImageBlock }[] = [];
  for (const file of request.attachments.filter(isImage)) {
    const block = await readImage(file);
    if (block) images.push({ file, block });
  }
  const text = turnText(request, { isNew, shown: images.map(({ file }) => file), texts: await shownTexts(request) });
  return [{ type: 'text', text }, ...images.map(({ block }) => block)];
}

async function readImage({ path, mime }: Attachment): Promise<ImageBlock | null> {
  try {
    const bytes = await readFile(path);
    if (bytes.length > maxImageBytes || mime === undefined) return null;
    return { type: 'image', source: { type: 'base64', media_type: mime, data: bytes.toString('base64') } };
  } catch {
    return null; // gone or not readable: the model is told its path and can say so
  }
}
