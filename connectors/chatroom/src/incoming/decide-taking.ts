import { CoreError, errorText, type Envelope, type StartContext } from '@svc/connector-kit';
import type { Room } from '../chatroom-deps.ts';
import type { ChannelMode } from '../meta.ts';
import { unasked, type JoinIn } from './join-in.ts';
import type { ChatMessage } from './read-event.ts';
import { isEnd, type Rounds } from './rounds.ts';

export type TakingDeps = Pick<StartContext, 'core' | 'log'> & {
  modeOf(room: Room): ChannelMode;
  /** The only bot whose messages start turns of this one; empty for all. */
  moderator: string;
  joinIn: JoinIn;
  rounds: Rounds;
};
/** A message of a known person in a room. */
type Said = { message: ChatMessage; room: Room; envelope: Envelope; isAddressed: boolean };
/** The envelope's fields that say how it is handled. */
type Taking = Pick<Envelope, 'delivery' | 'mentioned'> & { content?: { system: string } };

const read: Taking = { delivery: 'async', mentioned: false };
const answered: Taking = {};

/** Decides whether a message in a room is answered, answered although nobody asked, or only read. */
export async function decideTaking(deps: TakingDeps, said: Said, signal: AbortSignal): Promise<Taking> {
  const { message, room, envelope, isAddressed } = said;
  const mode = deps.modeOf(room);
  if (message.author.bot !== true) await noteWord(deps, said);
  if (mode === 'quiet' || !mayAsk(deps, said)) return read;
  if (isAddressed) return answered;
  if (mode === 'mention' || !/[\p{L}\p{N}].*[\p{L}\p{N}]/su.test(message.content)) return read;
  const { text } = envelope.content;
  const line = { channel: room.id, name: message.author.username, text, sender: envelope.sender.raw_id };
  return (await deps.joinIn.wants(line, signal)) ? { content: { system: unasked } } : read;
}

/** Bots are answered while their round lasts, and with a moderator only that bot. */
function mayAsk({ rounds, moderator }: TakingDeps, { message: { author }, room }: Said): boolean {
  if (author.bot !== true) return true;
  return !rounds.isOver(room.id) && (moderator === '' || author.id === moderator);
}

/** A person's request to stop ends the bots' round and the running answer; a question begins a new round. */
async function noteWord(deps: TakingDeps, { message, room, envelope, isAddressed }: Said): Promise<void> {
  if (!isEnd(message.content)) {
    if (isAddressed) deps.rounds.begin(room.id);
    return;
  }
  const { channel, sender, conversation_key } = envelope;
  try {
    await deps.core.sessions.abort({ channel, sender }, conversation_key);
  } catch (error) {
    if (error instanceof CoreError && error.code === 'forbidden') return;
    deps.log('debug', 'a round was ended, but no turn was running', { channel: room.id, error: errorText(error) });
  }
  deps.rounds.end(room.id);
}
