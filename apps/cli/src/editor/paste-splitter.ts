/** Terminal input: typed keys, and pasted text separate from them. */
export type TerminalInput = { type: 'keys' | 'paste'; text: string };

const [begin, end] = ['\u001B[200~', '\u001B[201~'];
/** A longer paste is cut off. */
const mostPasted = 8 * 1024 * 1024;

export type PasteSplitter = {
  /** Takes decoded text in chunks of any size. */
  push(text: string): TerminalInput[];
  /** Releases text that was held back as a possible beginning of a mark, when nothing follows it. */
  flush(): TerminalInput[];
  /** True while text is held back. */
  isHolding(): boolean;
};

/** Separates pasted from typed text by the marks of bracketed paste. */
export function createPasteSplitter(): PasteSplitter {
  let held = '';
  let pasted: string[] | null = null;
  let pastedUnits = 0;

  const keep = (text: string) => {
    const kept = text.slice(0, Math.max(0, mostPasted - pastedUnits));
    pasted?.push(kept);
    pastedUnits += kept.length;
  };

  return {
    push(text) {
      const found: TerminalInput[] = [];
      held += text;
      for (;;) {
        const mark: string = pasted === null ? begin : end;
        const at = held.indexOf(mark);
        const upTo = at === -1 ? held.length - heldBack(held, mark) : at;
        const part = held.slice(0, upTo);
        if (pasted !== null) keep(part);
        else if (part !== '') found.push({ type: 'keys', text: part });
        held = held.slice(upTo);
        if (at === -1) return found;
        held = held.slice(mark.length);
        if (pasted === null) [pasted, pastedUnits] = [[], 0];
        else {
          found.push({ type: 'paste', text: pasted.join('') });
          pasted = null;
        }
      }
    },
    flush() {
      if (pasted !== null || held === '') return [];
      const text = held;
      held = '';
      return [{ type: 'keys', text }];
    },
    isHolding: () => pasted === null && held !== '',
  };
}

/** The length of the end that could be the beginning of the mark. */
function heldBack(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}
