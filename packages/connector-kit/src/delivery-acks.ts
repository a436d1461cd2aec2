import type { StartContext } from './connector.ts';

/** Most that are kept while the core is away. */
const maxKept = 1_000;
/** So many that were said last are said again after a break: nobody knows whether they arrived, and twice is harmless. */
const keptWhenSaid = 100;

/** What has become of replies on the channel, until the core has surely heard it. Lines of the link, oldest first. */
export function createDeliveryAcks(write: (line: string) => void, log: StartContext['log']) {
  const lines: string[] = [];
  let unsaid = 0;
  let isDropping = false;

  return {
    add(line: string): void {
      lines.push(line);
      unsaid++;
      if (unsaid <= maxKept) return;
      lines.splice(0, lines.length - maxKept);
      unsaid = maxKept;
      if (!isDropping)
        log(
          'error',
          `over ${maxKept} acknowledgements wait for the core; the oldest are dropped, and their replies may be shown twice`,
        );
      isDropping = true;
    },

    /** Says what has not been said over this link. Only while it is open. */
    flush(): void {
      for (const line of unsaid === 0 ? [] : lines.slice(-unsaid)) write(line);
      unsaid = 0;
      isDropping = false;
      if (lines.length > keptWhenSaid) lines.splice(0, lines.length - keptWhenSaid);
    },

    /** The link broke. */
    takeBreak(): void {
      unsaid = lines.length;
    },

    areWaiting: (): boolean => unsaid > 0,
  };
}
