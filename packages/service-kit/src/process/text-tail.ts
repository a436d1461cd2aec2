/** The end of a text stream, at most `limit` characters of it. */
export type TextTail = {
  add(chunk: string): void;
  /** Trimmed. */
  read(): string;
  /** Unchanged. */
  raw(): string;
  /** True when there was more. */
  isCut(): boolean;
};

/** Takes time linear in what is added, whatever the limit and the size of the chunks. */
export function createTextTail(limit = 8192): TextTail {
  const parts: string[] = [];
  let kept = 0;
  let isCut = false;
  const raw = () => parts.join('').slice(-limit);
  return {
    add(chunk) {
      parts.push(chunk.length > limit ? chunk.slice(-limit) : chunk);
      kept += parts.at(-1)?.length ?? 0;
      isCut ||= kept > limit || chunk.length > limit;
      while (kept - (parts[0]?.length ?? 0) >= limit) kept -= parts.shift()?.length ?? 0;
    },
    read: () => raw().trim(),
    raw,
    isCut: () => isCut,
  };
}
