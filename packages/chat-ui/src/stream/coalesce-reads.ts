/**
 * Wraps a read so that only one runs at a time. A call while one runs has it run once more afterwards, because the answer on its way may be older
 * than what was missed. The promise settles with the last of these reads, and rejects when one does.
 */
export function coalesceReads(read: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let isAskedAgain = false;
  const run = async (): Promise<void> => {
    try {
      do {
        isAskedAgain = false;
        await read();
      } while (isAskedAgain);
    } finally {
      running = null;
    }
  };
  return () => {
    if (running === null) running = run();
    else isAskedAgain = true;
    return running;
  };
}
