import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { findChatCommand, mayUse, type ChatCommand } from '../command/chat-commands.ts';
import type { CoreContext } from '../context.ts';
import { instanceOfKey } from '../session/conversation-key.ts';
import { checkAttachments } from './check-attachments.ts';
import { denied, result, runTurn } from './run-turn.ts';
import { redactReply } from './steps/redact-reply.ts';
import type { Turn, TurnSink } from './turn.ts';

export type HandleIo = { sink: TurnSink; requestId: string };

/**
 * Handles one envelope, whoever brings it: a connector over its link, or any caller of `POST /v2/handle`. A caller
 * that goes away ends nothing.
 * @throws ServiceError `bad_request`, `queue_full`, `unavailable` or an `engine_…` code; every other ending is a result.
 */
export async function handleEnvelope(
  deps: CoreContext,
  envelope: Envelope,
  { sink, requestId }: HandleIo,
): Promise<HandleResult> {
  checkAttachments(envelope.content.attachments, deps.paths.uploads);
  const turn: Turn = {
    id: deps.ids.next('turn'),
    requestId,
    envelope,
    instanceId: instanceOfKey(envelope.channel, envelope.conversation_key),
  };
  if (envelope.delivery === 'async') return observe(deps, turn);
  const command = findChatCommand(envelope.content.text);
  if (command !== null && !command.waits) return runCommand(deps, turn, command);

  const onQueued = (position: number) => {
    sink({ type: 'queued', position });
    deps.events.queued(turn, position);
  };
  return deps.turnQueue.run(
    envelope.conversation_key,
    (signal) =>
      command === null ? timed(deps, turn, () => runTurn(deps, turn, { sink, signal })) : runCommand(deps, turn, command),
    onQueued,
  );
}

/** A turn that takes longer than this is told of while it runs. */
const longTurnMs = 1000;

/** Tells how the turn ended and how long it took, whatever happens. */
async function timed(deps: CoreContext, turn: Turn, run: () => Promise<HandleResult>): Promise<HandleResult> {
  const since = deps.clock.now();
  let isLong = false;
  const cancel = deps.clock.after(longTurnMs, () => {
    isLong = true;
    deps.events.started(turn, since);
  });
  try {
    const handled = await run();
    // A short turn with a reply has told everything by its outbound event.
    if (isLong || handled.outcome !== 'replied') deps.events.ended(turn, handled.outcome, deps.clock.now() - since);
    return handled;
  } catch (error) {
    deps.events.ended(turn, 'failed', deps.clock.now() - since, (error as { code?: string }).code ?? 'internal');
    throw error;
  } finally {
    cancel();
  }
}

async function runCommand(deps: CoreContext, turn: Turn, command: ChatCommand): Promise<HandleResult> {
  const identity = await deps.trust.resolve(turn.envelope);
  if (identity.denied) {
    deps.events.denied(turn, identity);
    return denied(turn);
  }
  deps.events.inbound(turn, identity);
  const text = mayUse(command, identity)
    ? await command.run(deps, turn, identity)
    : `/${command.name} is for ${command.floor} and above.`;
  return result(turn, 'command', redactReply(deps, text));
}

/** A message that is only seen: kept as context of the conversation's next turn. */
async function observe(deps: CoreContext, turn: Turn): Promise<HandleResult> {
  const identity = await deps.trust.resolve(turn.envelope);
  const { envelope } = turn;
  if (identity.denied) {
    deps.events.denied(turn, identity);
  } else {
    deps.events.inbound(turn, identity, true);
    await deps.observed.add(envelope.conversation_key, identity.display_name, envelope.content.text);
  }
  return result(turn, identity.denied ? 'denied' : 'observed', '');
}
