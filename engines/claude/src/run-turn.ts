import type { Attachment } from '@svc/contract/envelope.ts';
import { endOnAbort } from '@svc/engine-kit/end-on-abort.ts';
import type { EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';
import { endingIn } from '@svc/engine-kit/failure-kind.ts';
import { isTerminal } from '@svc/engine-kit/guard-events.ts';
import { readBeginning } from '@svc/engine-kit/read-beginning.ts';
import { shownTexts } from '@svc/engine-kit/shown-texts.ts';
import { isImage, turnText } from '@svc/engine-kit/turn-text.ts';
import type { ClaudeUserMessage, ImageBlock } from './claude-messages.ts';
import type { Conversation } from './conversation.ts';
import { beginTurn, estimated, listenerOf, type TurnOutcome } from './turn-listener.ts';

type Options = {
  isNew: boolean;
  allowsKey: boolean;
  /** When the model's limit ends, ms from now, if the program has not reported it. */
  askLimitEnd?(model: string | null): Promise<number | null>;
};

/** Time from an interrupt to its result, after which the program is ended, ms. */
const interruptLimitMs = 1000;

/** Runs one turn in an open conversation and passes on its events. */
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
  const turn = beginTurn({ conversation, request, allowsKey, signal });
  conversation.send(content, listenerOf(turn));
  endOnAbort(signal, turn.queue, {
    // A refusal means that the turn or the program has ended, and both end the queue.
    interrupt: () => void conversation.query.interrupt().catch(() => undefined),
    kill: () => conversation.kill(),
    graceMs: interruptLimitMs,
    lastWords: () => [estimated(turn)],
  });
  try {
    let usedTools = false;
    for await (const event of turn.queue) {
      usedTools ||= event.type === 'tool';
      // Before anyone sees the end of the turn, so that its commands have ended too.
      if (usedTools && isTerminal(event)) await conversation.endOrphans();
      yield event.type === 'failed' && askLimitEnd ? await withLimitEnd(event, () => askLimitEnd(turn.model)) : event;
    }
    return turn.outcome;
  } finally {
    conversation.settle();
    // The program still writes, but nobody reads its output any more.
    if (turn.queue.state !== 'ended') {
      turn.queue.end();
      void conversation.kill();
    }
  }
}

/**
 * A request to a program before its turn was sent. If it hangs there, nothing else would end it: when the turn is aborted, it gets a moment
 * to respond. @throws when it was ended
 */
async function orKilled<T>(work: Promise<T>, conversation: Conversation, signal: AbortSignal): Promise<T> {
  const late = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    timer = setTimeout(() => {
      late.reject(new Error('the program did not start in time'));
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

/** Slightly less than the vendor's limit of five megabytes of base64. */
const maxImageBytes = 3_700_000;

/** The user message: text, and the images that the model can see. Other files are named by path. */
async function toUserContent(request: EngineRequest, isNew: boolean): Promise<ClaudeUserMessage['message']['content']> {
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
    const beginning = await readBeginning(path, maxImageBytes);
    if (typeof beginning === 'string' || !beginning.isWhole || mime === undefined) return null;
    return { type: 'image', source: { type: 'base64', media_type: mime, data: beginning.bytes.toString('base64') } };
  } catch {
    return null; // unreadable: the model gets its path and can say so
  }
}
