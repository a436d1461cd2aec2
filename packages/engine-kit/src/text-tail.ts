/** Keeps the end of a text stream: enough to explain a failure, never more than `limit` characters. */
export function createTextTail(limit = 8192): { add(chunk: string): void; read(): string } {
  let tail = '';
  return {
    add(chunk) {
      tail = (tail + chunk).slice(-limit);
    },
    read: () => tail.trim(),
  };
}
