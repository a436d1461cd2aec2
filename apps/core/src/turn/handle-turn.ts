import { tierWords, type Identity } from '@svc/contract/trust.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { commandOf, mayUse, type ChatCommand } from './chat-commands.ts';
import { isAtHome } from '../session/conversation-key.ts';
import { heldToRules } from './held-to-rules.ts';
import type { LiveTurn } from './live-turns.ts';
import { withPresentRights } from './present-rights.ts';
import { runTurn } from './run-turn.ts';
import { admit } from './steps/admit.ts';
import { redactReply } from './steps/redact-reply.ts';
import { toResult } from './to-result.ts';
import type { PipelineParts } from './turn-deps.ts';
import type { Turn, TurnIo } from './turn.ts';

/**
 * Runs a live turn that is due: a chat command, or the steps of a turn. The message is read only now, because it may have been
 * changed while the turn waited. `answer`: set when it answers a question of the running turn.
 */
export async function handleTurn(
  deps: PipelineParts,
  { turn, sink, audience }: LiveTurn,
  answer: ChatCommand | null,
  slot: Pick<TurnIo, 'signal' | 'rest'>,
): Promise<HandleResult> {
  if (turn.isDropped === true) return toResult(turn, 'aborted', '');
  const command = answer ?? commandOf(turn);
  const held = heldToRules(deps, turn);
  if (command !== null) return runCommand(deps, held, command);
  const entitled = await withPresentRights(deps, held);
  return timed(deps, entitled, () => runTurn(deps, entitled, { sink, audience, ...slot }));
}

/** A turn that takes longer than this is reported while it runs. */
const longTurnMs = 1000;

/** Records how the turn ended and how long it took, whatever happens. */
async function timed(
  { clock, events }: Pick<PipelineParts, 'clock' | 'events'>,
  turn: Turn,
  run: () => Promise<HandleResult>,
): Promise<HandleResult> {
  const since = clock.elapsed();
  const at = clock.now();
  let isLong = false;
  const cancel = clock.after(longTurnMs, () => {
    isLong = true;
    events.started(turn, at);
  });
  try {
    const handled = await run();
    // For a short turn with a reply, the outbound event says everything.
    if (isLong || handled.outcome !== 'replied') events.ended(turn, handled.outcome, clock.elapsed() - since);
    return handled;
  } catch (error) {
    events.ended(turn, 'failed', clock.elapsed() - since, (error as { code?: string }).code ?? 'internal');
    throw error;
  } finally {
    cancel();
  }
}

async function runCommand(deps: PipelineParts, turn: Turn, command: ChatCommand): Promise<HandleResult> {
  const admission = await admit(deps, turn, false);
  if ('ended' in admission) return admission.ended;
  const { identity } = admission;
  await deps.events.inbound(turn, identity, 'command');
  const text = (await whyNot(deps, turn, command, identity)) ?? (await command.run(deps, turn, identity));
  return toResult(turn, 'command', await redactReply(deps, turn, text));
}

/** Why a sender cannot use a command here; null when they can. In a conversation of another channel, only its own people and the operator can. */
async function whyNot(
  { sessions }: Pick<PipelineParts, 'sessions'>,
  turn: Turn,
  command: ChatCommand,
  identity: Identity,
): Promise<string | null> {
  if (!mayUse(command, identity)) return `/${command.name} is for people who are ${tierWords[command.floor]}, and above.`;
  const { channel, conversation_key } = turn.envelope;
  const from = { surface: channel, instance_id: turn.instanceId };
  if (isAtHome(from, conversation_key, await sessions.read(conversation_key))) return null;
  return `This conversation belongs to another channel. Use /${command.name} there.`;
}
