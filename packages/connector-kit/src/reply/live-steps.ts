import type { Clock } from '@svc/service-kit/clock.ts';
import type { Layout } from './reply-layout.ts';
import type { ReplyMessages } from './reply-messages.ts';
import type { Paced } from './reply-platform.ts';
import type { ReplyText } from './reply-text.ts';
import { faultOf } from './write-fault.ts';

/** The first message is posted after this many characters, or this long after the first one, so that a notification shows real words. */
export type FirstAfter = { chars: number; ms: number };
/** What happens to a reply whose message was removed: it is posted again, or ends silently. */
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

/** The steps that bring the messages of a growing reply closer to its text. */
export type LiveSteps = {
  /** Ms until the text may be shown; null while there is nothing to do. */
  waitMs(): number | null;
  /** A search that must run before more is written; it keeps the pace by itself. Null when none is needed. */
  search(paced: Paced): Step | null;
  /** The next write; null when there is none. */
  write(): Step | null;
  /** Ms until the shown draft must be shown again; null without a draft. */
  draftLeftMs(): number | null;
  /** The text so far was withdrawn. */
  retracted(): void;
};

/** A withdrawn text is removed after this time, unless new text arrives first, ms. */
const takeBackMs = 1000;
/** A longer text is not shown while it grows, only when it is complete. */
const maxChars = 60_000;
/** Platforms show a draft for half a minute, ms. */
const draftAgainMs = 20_000;

export function createLiveSteps({ clock, text, messages, layout, firstAfter, whenGone, ...deps }: StepDeps): LiveSteps {
  /** The draft that the platform shows of the next message; null where it has no drafts. */
  let drafted: string | null = messages.canDraft() ? '' : null;
  let draftedAt = Number.NEGATIVE_INFINITY;
  /** Messages before this index are full and left unchanged. */
  let current = 0;
  /** When there was first something to show, and when it was withdrawn. */
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

  /** Where drafts are available, the last message is shown as a draft: it is posted only when it is complete. */
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
