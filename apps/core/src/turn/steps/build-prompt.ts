import type { PriorMessage } from '@svc/contract/envelope.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { TurnFile } from '@svc/engine-kit/engine.ts';
import { longSenderText } from '@svc/engine-kit/prompt-blocks.ts';
import { describeAnnouncements } from '../../announcement/describe-announcements.ts';
import type { ObservedMessage } from '../../session/observed-store.ts';
import type { TurnDeps } from '../turn-deps.ts';
import { inputOf } from '../turn-row.ts';
import type { Turn } from '../turn.ts';
import { describeObserved, type SeenMessage } from './describe-observed.ts';
import { describeTurn } from './describe-turn.ts';
import { readAnnouncements } from './read-announcements.ts';

export type Prompt = {
  /** The user message with the facts of the turn before it. */
  text: string;
  /** The stable persona, plus the channel's system prompt for this turn. */
  system: string;
  /** Used only while the session has had no turn. */
  transcript: PriorMessage[];
  /** Files of this message, where engines may open them. */
  attachments: TurnFile[];
  /** The folder of the conversation's files. Called only by engines that read files, because its name has to be computed. */
  filesDir: () => string;
  /** The newest observed message in the text; it and older ones are dropped after the turn. */
  observedUpTo: number;
  /** The newest announcement; 0 while none is newer than the session's cursor. */
  announcedUpTo: number;
};

type Deps = Pick<
  TurnDeps,
  'clock' | 'persona' | 'instanceRules' | 'observed' | 'conversationFiles' | 'announcements' | 'sessions' | 'journal'
>;

/**
 * Builds the engine's input. Facts that change from turn to turn are in the user message: engines freeze their
 * system prompt when a session begins. Text of other people is fenced as data.
 */
export async function buildPrompt(deps: Deps, turn: Turn, identity: Identity): Promise<Prompt> {
  const { observed, clock } = deps;
  const { content, conversation_key } = turn.envelope;
  const seen = await stageSeen(deps, conversation_key, await observed.list(conversation_key));
  const mail = await readAnnouncements(deps, turn, identity);
  const context = [...describeAnnouncements(mail), ...describeObserved(seen)];
  const persona = deps.persona.text(deps.instanceRules.of(turn.instanceId).persona);
  if (mail.shown.length > 0) await keepCursor(deps, turn, mail.after);
  return {
    text: [...context, describeTurn(turn, identity, clock.now()), await longSenderText(content.text)].join('\n\n'),
    system: content.system === undefined ? persona : `${persona}\n\n${await longSenderText(content.system)}`,
    transcript: content.transcript ?? [],
    attachments: await deps.conversationFiles.stage(conversation_key, content.attachments ?? []),
    filesDir: () => deps.conversationFiles.folderOf(conversation_key),
    observedUpTo: seen.at(-1)?.id ?? 0,
    announcedUpTo: mail.upTo,
  };
}

/** The session's cursor advances when this turn begins. So a turn that has to run again keeps its own cursor, to find its announcements. */
async function keepCursor({ journal }: Deps, turn: Turn, announcedAfter: number): Promise<void> {
  if (turn.announcedAfter !== undefined) return;
  const kept = { ...turn, announcedAfter };
  await journal.keepInput(kept, await inputOf(kept));
}

/** The files of the newest messages: older ones are not described one by one. */
async function stageSeen({ conversationFiles }: Deps, key: string, seen: readonly ObservedMessage[]): Promise<SeenMessage[]> {
  const withFiles = new Set(seen.filter(({ attachments }) => attachments.length > 0).slice(-maxSeenWithFiles));
  if (withFiles.size === 0) return [...seen];
  const staged: SeenMessage[] = [];
  // One after the other: two messages may name the same file.
  for (const message of seen) {
    const attachments = withFiles.has(message) ? await conversationFiles.stage(key, message.attachments) : message.attachments;
    staged.push({ ...message, attachments });
  }
  return staged;
}

const maxSeenWithFiles = 20;
