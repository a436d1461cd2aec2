import type { ReplyStyle } from '../common-fields.ts';

/** The text of a reply so far, from the frames of its turn. */
export type ReplyText = {
  add(text: string): void;
  /** A block has ended. If its deltas were left out, its whole text is passed here. */
  endBlock(block: string): void;
  retract(): void;
  /** The part that may be shown. */
  visible(): string;
  /** Length of the visible part in characters, computed without joining a growing text. */
  size(): number;
  isBlank(): boolean;
  /** The whole text. */
  whole(): string;
  /** Offsets at which blocks end that are messages of their own. */
  cuts(): readonly number[];
};

/** Separates two blocks, as in the core. */
const blockBreak = '\n\n';

export function createReplyText(style: ReplyStyle): ReplyText {
  let text = '';
  let cuts: number[] = [];
  let isOpen = false;
  let hasWords = false;
  const shownTo = () => (style === 'stream' ? text.length : style === 'steps' ? (cuts.at(-1) ?? 0) : 0);
  return {
    add(more) {
      text += more;
      hasWords ||= /\S/.test(more);
      isOpen = true;
    },
    endBlock(block) {
      if (!isOpen) text += text === '' ? block : blockBreak + block;
      hasWords ||= /\S/.test(block);
      isOpen = false;
      if (style === 'steps' && text.length > (cuts.at(-1) ?? 0)) cuts.push(text.length);
    },
    retract() {
      text = '';
      cuts = [];
      isOpen = false;
      hasWords = false;
    },
    visible: () => text.slice(0, shownTo()),
    size: shownTo,
    isBlank: () => !hasWords || shownTo() === 0,
    whole: () => text,
    cuts: () => cuts,
  };
}
