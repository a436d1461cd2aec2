import { counted } from '@svc/service-kit/words.ts';
import { chatCommands, describeChatCommands, type ChatCommandEntry, type ChatCommandName } from '@svc/contract/chat-command.ts';
import { atLeast, tierWords, type Identity } from '@svc/contract/trust.ts';
import { forgetConversation } from '../session/forget-conversation.ts';
import { abortTurn } from './abort-turn.ts';
import { engineOfTurn } from './engine-of-turn.ts';
import type { PipelineParts } from './turn-deps.ts';
import type { Turn } from './turn.ts';

type Deps = Pick<
  PipelineParts,
  | 'sessions'
  | 'claims'
  | 'turnQueue'
  | 'batches'
  | 'journal'
  | 'outbox'
  | 'engines'
  | 'instanceRules'
  | 'events'
  | 'observed'
  | 'conversationFiles'
  | 'workspaces'
  | 'checkouts'
  | 'titles'
  | 'watches'
  | 'endedEngineSessions'
>;

type Run = (deps: Deps, turn: Turn, identity: Identity) => Promise<string>;

/**
 * A chat command of the core: the same words on every channel. One that `waits` takes its place behind the running
 * turn; the others answer at once, because stopping or asking must work while a turn runs.
 */
export type ChatCommand = ChatCommandEntry & { run: Run };

const beginNew: Run = async (deps, turn, identity) => {
  const { claims, events } = deps;
  const key = turn.envelope.conversation_key;
  // A person working in it at a terminal would lose it, and no session would be left from which to release the claim.
  if (claims.isClaimed(key)) return 'This conversation is open in a terminal. Release it there before you begin a new one.';
  // What the operator set for the conversation stays: a sender must not be able to remove it.
  await forgetConversation(deps, key);
  events.sessionForgotten(turn, identity);
  return 'A new conversation begins with your next message.';
};

const stopTurn: Run = async (deps, turn) =>
  abortTurn(deps, turn.envelope.conversation_key) ? 'Stopped.' : 'Nothing is running in this conversation.';

const showStatus: Run = async (deps, turn, identity) => {
  const { sessions, turnQueue } = deps;
  const key = turn.envelope.conversation_key;
  const session = await sessions.read(key);
  const { choice } = await engineOfTurn(deps, turn);
  const counts = turnQueue.counts();
  // The reason names places on this machine.
  const why = atLeast(identity.trust_tier, 'TRUSTED') && turn.envelope.public !== true ? ` ${choice.why}` : '';
  return [
    `You: ${identity.display_name} (${tierWords[identity.trust_tier]}, tools: ${identity.tool_policy}${identity.asks === 'never' ? '' : `, asks: ${identity.asks}`})`,
    `Engine: ${choice.id}${choice.model === null ? '' : `, model ${choice.model}`}.${why}`,
    `Conversation: ${turnQueue.stateOf(key)}, ${counted(session?.turns ?? 0, 'turn')} so far`,
    `Service: ${counted(counts.running, 'turn')} running, ${counts.waiting} waiting`,
  ].join('\n');
};

const showUsage: Run = async ({ sessions }, turn) => {
  const session = await sessions.read(turn.envelope.conversation_key);
  if (session === undefined) return 'Nothing has been used in this conversation yet.';
  const cost = session.cost_usd > 0 ? `, worth $${session.cost_usd.toFixed(4)} at list prices` : '';
  const unpriced = session.unpriced_turns > 0 ? ` No price is known for ${session.unpriced_turns} of the turns.` : '';
  return `${counted(session.turns, 'turn')}, ${counted(session.input_tokens, 'token')} in, ${counted(session.output_tokens, 'token')} out${cost}.${unpriced}`;
};

const showHelp: Run = (_deps, _turn, identity) =>
  Promise.resolve(describeChatCommands(commands.filter((command) => mayUse(command, identity))));

const runs: Record<ChatCommandName, Run> = {
  new: beginNew,
  stop: stopTurn,
  status: showStatus,
  usage: showUsage,
  help: showHelp,
};

const commands: readonly ChatCommand[] = chatCommands.map((entry) => ({ ...entry, run: runs[entry.name] }));

/** Includes the blanks around it. */
const longestCommand = 200;

/** The command that a message consists of; null for any other message. Other text that begins with a slash goes to the engine. */
export function findChatCommand(text: string): ChatCommand | null {
  const name = text.length > longestCommand ? undefined : /^\s*\/([a-z]+)\s*$/.exec(text)?.[1];
  return commands.find((command) => command.name === name) ?? null;
}

/** The command of a turn. Steering and edits go to the engine, even if they look like a command. */
export const commandOf = ({ steering, amends, envelope }: Pick<Turn, 'steering' | 'amends' | 'envelope'>): ChatCommand | null =>
  steering === undefined && amends === undefined ? findChatCommand(envelope.content.text) : null;

export const mayUse = (command: ChatCommand, identity: Identity): boolean => atLeast(identity.trust_tier, command.floor);
