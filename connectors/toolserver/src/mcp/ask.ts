import { ServiceError, type CoreApi, type Envelope, type HandleResult, type StreamHandlers } from '@svc/connector-kit';
import { textOf } from '@svc/contract/turn.ts';
import type { TokenUsage } from '@svc/contract/usage.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { meta } from '../meta.ts';
import type { Caller } from '../oauth/check-token.ts';
import type { Question } from './ask-input.ts';
import { conversationKey } from './conversation.ts';
import { createProgress, type Notify, type Progress } from './progress.ts';
import type { SaveFiles } from './save-files.ts';

export type AskDeps = {
  core: CoreApi;
  clock: Clock;
  ids: Ids;
  instanceId: string;
  saveFiles: SaveFiles;
  log: (level: 'warn', message: string, fields?: object) => void;
};

export type Answered = { ok: true; answer: string; conversation_key: string; usage: TokenUsage | null };
export type Refused = { ok: false; message: string };

export type Asked = { question: Question; caller: Caller; requestId: string; signal: AbortSignal; notify: Notify };

/** Asks the assistant and resolves with its answer, or with why there is none. `signal` ends the turn. */
export async function ask(deps: AskDeps, asked: Asked): Promise<Answered | Refused> {
  const progress = createProgress(asked.notify, deps.clock);
  try {
    return await runTurn(deps, asked, progress);
  } catch (error) {
    if (error instanceof ServiceError) return { ok: false, message: error.message };
    throw error;
  } finally {
    progress.end();
  }
}

async function runTurn(
  deps: AskDeps,
  { question, caller, requestId, signal }: Asked,
  progress: Progress,
): Promise<Answered | Refused> {
  const { core, ids } = deps;
  const envelope = await toEnvelope(deps, question, caller, ids.next('msg'), signal);
  // Cancelled while its files were stored: no turn has started.
  if (signal.aborted) return { ok: false, message: takenBack };
  const forget = onAbort(signal, () => takeBack(deps, envelope));
  try {
    const result = await core.handleStream(envelope, handlersOf(progress), { requestId });
    if (!isAnswer(result)) return { ok: false, message: textOf(result.actions) || reasonOf(result) };
    return {
      ok: true,
      answer: textOf(result.actions),
      conversation_key: result.conversation_key,
      usage: result.usage ?? null,
    };
  } finally {
    forget();
  }
}

async function toEnvelope(
  { core, instanceId, saveFiles }: AskDeps,
  { question, conversation, attachments = [] }: Question,
  { userId, username }: Caller,
  messageId: string,
  signal: AbortSignal,
): Promise<Envelope> {
  const envelope = {
    channel: meta.type,
    conversation_key: conversationKey(instanceId, userId, conversation),
    message_id: messageId,
    sender: { raw_id: userId, raw_username: username },
    content: { text: question },
    capabilities: meta.capabilities,
    channel_context: { target: userId },
  };
  // For a stranger nothing is fetched or stored: the core refuses the question without its files.
  if (attachments.length === 0 || (await core.resolve(envelope)).denied) return envelope;
  const files = await saveFiles(attachments, envelope.conversation_key, signal);
  return { ...envelope, content: { text: question, attachments: files } };
}

/** A cancelled question is a deleted message: it leaves the queue, or its turn ends. */
function takeBack({ core, log }: AskDeps, { conversation_key, message_id, sender }: Envelope): void {
  const as = { channel: meta.type, sender };
  core.amend({ conversation_key, message_id: message_id!, version: 1, text: null, as }).catch((error: unknown) => {
    log('warn', 'a question that was cancelled may still be answered', { error: errorText(error) });
  });
}

const handlersOf = (progress: Progress): StreamHandlers => ({
  onQueued: (position) => progress.step(`Waiting: ${position} ahead of this question.`),
  onDelta: (text) => progress.text(text),
  onThinking: () => progress.step('Thinking.'),
  onTool: ({ name }) => progress.step(`Using ${name}.`),
  onRetract: () => progress.step('Starting again.'),
});

const isAnswer = ({ outcome }: HandleResult): boolean =>
  ['replied', 'command', 'silent', 'merged', 'delivered'].includes(outcome);

const takenBack = 'The question was cancelled, or the operator stopped the answer.';

function reasonOf({ outcome }: HandleResult): string {
  if (outcome === 'aborted') return takenBack;
  if (outcome === 'observed')
    return 'The operator has taken over this conversation. The question was recorded but is not answered.';
  return 'no access';
}

function onAbort(signal: AbortSignal, act: () => void): () => void {
  signal.addEventListener('abort', act, { once: true });
  return () => signal.removeEventListener('abort', act);
}
