import type { ReplyStyle } from '../common-fields.ts';

/** The text of a reply so far, from the frames of its turn. */
export type ReplyText = {
  add(text: string): void;
  /** A block is done. Where its deltas were left out, it comes whole here. */
  endBlock(block: string): void;
  retract(): void;
  /** What may be shown of it. */
  visible(): string;
  /** Of that, in characters: without putting together a text that grows. */
  size(): number;
  isBlank(): boolean;
  /** All that was said. */
  whole(): string;
  /** Where blocks end that are messages of their own. */
  cuts(): readonly number[];
};

/** Between two blocks, as the core joins them. */
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
