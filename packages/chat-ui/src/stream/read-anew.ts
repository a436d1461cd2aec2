/**
 * Reads whenever it is asked, one read at a time. Asked while it reads, it reads once more when that has ended: what comes may be older than what
 * was missed. What it gives settles with the last of these reads, and rejects when one does.
 */
export function readAnew(read: () => Promise<void>): () => Promise<void> {
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
