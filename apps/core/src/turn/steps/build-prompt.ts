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
  /** The stable persona, plus what the channel asked for in this turn. */
  system: string;
  /** Used only while the session has had no turn. */
  transcript: PriorMessage[];
  /** Files of this message, where engines may open them. */
  attachments: TurnFile[];
  /** Where files of the conversation are. Asked only by engines that read files, for its name is a digest. */
  filesDir: () => string;
  /** Newest observed message that is in the text; it and older ones are done with after the turn. */
  observedUpTo: number;
  /** Newest announcement there is; 0 while none is newer than the session's cursor. */
  announcedUpTo: number;
};

type Deps = Pick<
  TurnDeps,
  'clock' | 'persona' | 'instanceRules' | 'observed' | 'conversationFiles' | 'announcements' | 'sessions' | 'journal'
>;

/**
 * Builds what the engine gets. Facts that change from turn to turn stand in the user message: engines freeze their
 * system prompt when a session begins. What others wrote is fenced as data.
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

/** The session's cursor moves on when this turn begins; should it have to run again, it finds its announcements all the same. */
async function keepCursor({ journal }: Deps, turn: Turn, announcedAfter: number): Promise<void> {
  if (turn.announcedAfter !== undefined) return;
  const kept = { ...turn, announcedAfter };
  await journal.keepInput(kept, await inputOf(kept));
}

/** Those of the newest messages: older ones are not described one by one. */
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
