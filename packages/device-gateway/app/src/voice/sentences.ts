/** Cuts what streams into sentences, each given once and whole: they are spoken while the rest is still written. Code is not read aloud. */
export class Sentences {
  #taken = 0;

  /** The sentences that are new in `text`, which only grows. At the end, what is left is one, too. */
  take(text: string, isOver: boolean): string[] {
    const rest = text.slice(this.#taken);
    const end = isOver ? rest.length : lastEnd(rest);
    this.#taken += end;
    return spoken(rest.slice(0, end))
      .split(/(?<=[.!?…]["')\]]*)\s+|\n+/)
      .map((sentence) => sentence.trim())
      .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
  }
}

/** Up to where sentences are whole. Within code that has not ended there is no end. */
function lastEnd(text: string): number {
  const fences = [...text.matchAll(/^```/gm)];
  const until = fences.length % 2 === 1 ? (fences.at(-1)?.index ?? 0) : text.length;
  const ends = [...text.slice(0, until).matchAll(/[.!?…]["')\]*_]*\s+|\n+/g)];
  const last = ends.at(-1);
  return last === undefined ? 0 : last.index + last[0].length;
}

/** A text without its marks. */
const spoken = (markdown: string): string =>
  markdown
    .replaceAll(/^```[^\n]*\n[\s\S]*?(?:^```|$(?![\s\S]))/gm, '\n')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^\s*(?:#{1,6}|>|[-*+]|\d+[.)])\s+/gm, '')
    .replaceAll(/[*_`~|]/g, '');
