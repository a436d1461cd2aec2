import { CoreError, errorText, type Envelope, type StartContext } from '@svc/connector-kit';
import type { Room } from '../chatroom-deps.ts';
import type { ChannelMode } from '../meta.ts';
import { unasked, type JoinIn } from './join-in.ts';
import type { ChatMessage } from './read-event.ts';
import { isEnd, type Rounds } from './rounds.ts';

export type TakingDeps = Pick<StartContext, 'core' | 'log'> & {
  modeOf(room: Room): ChannelMode;
  /** The only bot whose word gives a turn to this one; empty for all. */
  moderator: string;
  joinIn: JoinIn;
  rounds: Rounds;
};
/** A message in a room, of a person who is known. */
type Said = { message: ChatMessage; room: Room; envelope: Envelope; isAddressed: boolean };
/** What an envelope says of how it is taken. */
type Taking = Pick<Envelope, 'delivery' | 'mentioned'> & { content?: { system: string } };

const read: Taking = { delivery: 'async', mentioned: false };
const answered: Taking = {};

/** Whether a message in a room is answered, answered although nobody asked, or only read. */
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

/** Bots get an answer while their round is on, and where there is a moderator that bot alone. */
function mayAsk({ rounds, moderator }: TakingDeps, { message: { author }, room }: Said): boolean {
  if (author.bot !== true) return true;
  return !rounds.isOver(room.id) && (moderator === '' || author.id === moderator);
}

/** A person's word that it is enough ends the round of the bots, and what is being answered; asking something begins another one. */
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
