import type { Clock } from '@svc/service-kit/clock.ts';
import type { Layout } from './reply-layout.ts';
import type { ReplyMessages } from './reply-messages.ts';
import type { Paced } from './reply-platform.ts';
import type { ReplyText } from './reply-text.ts';
import { faultOf } from './write-fault.ts';

/** The first message comes with so many characters, or so long after the first of them: a notification shows real words. */
export type FirstAfter = { chars: number; ms: number };
/** What happens to a reply whose message was removed: it is posted again, or ends without a word. */
export type WhenGone = 'post' | 'end';

export type StepDeps = {
  clock: Clock;
  text: ReplyText;
  messages: ReplyMessages;
  layout: Layout;
  firstAfter: FirstAfter;
  whenGone: WhenGone;
  answers?: string;
  /** Something was shown. */
  onShown(): void;
};

type Step = () => Promise<void>;

/** What brings the messages of a reply that grows nearer to its text, one step at a time. */
export type LiveSteps = {
  /** Ms until what there is may be shown; null while there is nothing to be done. */
  waitMs(): number | null;
  /** What has to be found before more is written; it keeps the pace by itself. Null when nothing has. */
  search(paced: Paced): Step | null;
  /** The next write; null when there is none. */
  write(): Step | null;
  /** Ms until what is shown as a draft has to be shown again; null where nothing is. */
  draftLeftMs(): number | null;
  /** What was said was taken back. */
  retracted(): void;
};

/** A text that was taken back goes away after this, unless there is another by then. */
const takeBackMs = 1000;
/** Longer texts are not shown again at every step; they come when they are whole. */
const maxChars = 60_000;
/** Platforms show a draft for half a minute. */
const draftAgainMs = 20_000;

export function createLiveSteps({ clock, text, messages, layout, firstAfter, whenGone, ...deps }: StepDeps): LiveSteps {
  /** What a platform with drafts shows of the message to come; null where it has none. */
  let drafted: string | null = messages.canDraft() ? '' : null;
  let draftedAt = Number.NEGATIVE_INFINITY;
  /** Messages before it are full and left alone. */
  let current = 0;
  /** When there was something to show for the first time, and when it was taken back. */
  let since: { first: number | null; emptied: number | null } = { first: null, emptied: null };

  function waitMs(): number | null {
    const now = clock.elapsed();
    if (messages.doomed() > 0) return 0;
    if (text.isBlank()) return since.emptied === null ? null : Math.max(0, since.emptied + takeBackMs - now);
    since.first ??= now;
    const isLong =
      text.cuts().length > 0 || text.size() > 2 * firstAfter.chars || text.visible().trim().length >= firstAfter.chars;
    if (messages.count() > 0 || isLong) return 0;
    return Math.max(0, since.first + firstAfter.ms - now);
  }

  function search(paced: Paced): Step | null {
    const pieces = layout(text.visible(), text.cuts());
    const piece = pieces[messages.count()];
    if (messages.doomed() > 0) return null;
    if (pieces.length === 0 && since.emptied !== null && messages.hasStray()) return () => messages.findStray(paced);
    if (piece === undefined || isDraft(pieces) || !messages.mustFind()) return null;
    return () => messages.find(piece, { paced, answers: deps.answers });
  }

  function write(): Step | null {
    if (text.size() > maxChars) return null;
    if (messages.doomed() > 0) return () => messages.removeOne();
    const pieces = layout(text.visible(), text.cuts());
    if (pieces.length === 0) return since.emptied !== null && messages.count() > 0 ? takeBack : null;
    while (current < messages.count() && current < pieces.length) {
      const index = current;
      const piece = pieces[index] ?? '';
      if (messages.canEdit(index) && !messages.shows(index, piece)) return () => edit(index, piece);
      if (pieces.length === index + 1) return null;
      current++;
    }
    const piece = pieces[messages.count()];
    if (piece === undefined) return null;
    if (piece === drafted && clock.elapsed() - draftedAt < draftAgainMs) return null;
    return isDraft(pieces) ? () => draft(piece) : () => post(piece);
  }

  /** The last message is shown as a draft, where drafts are to be had: nothing is posted there before it is whole. */
  function isDraft(pieces: readonly string[]): boolean {
    return drafted !== null && messages.count() === pieces.length - 1 && text.cuts().length === 0;
  }

  async function draft(piece: string): Promise<void> {
    drafted = (await messages.draft(piece)) ? piece : null;
    draftedAt = clock.elapsed();
    if (drafted === null) await post(piece);
    else deps.onShown();
  }

  async function post(piece: string): Promise<void> {
    await messages.post(piece, { isFinal: text.cuts().length > 0, cuts: text.cuts(), answers: deps.answers });
    deps.onShown();
  }

  async function edit(index: number, piece: string): Promise<void> {
    try {
      await messages.edit(index, piece);
      deps.onShown();
    } catch (error) {
      if (faultOf(error) !== 'gone') throw error;
      await messages.giveUp(index, { isGone: true });
      if (whenGone === 'end') await messages.finish();
    }
  }

  async function takeBack(): Promise<void> {
    await messages.giveUp(0, { isGone: false });
    since = { first: null, emptied: null };
    if (messages.doomed() > 0) await messages.removeOne();
  }

  return {
    waitMs,
    search,
    write,
    draftLeftMs() {
      const leftMs = draftedAt + draftAgainMs - clock.elapsed();
      return drafted !== null && drafted !== '' && leftMs > 0 ? leftMs : null;
    },
    retracted() {
      since = { first: null, emptied: clock.elapsed() };
      current = 0;
    },
  };
}
