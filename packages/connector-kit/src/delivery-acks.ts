import type { StartContext } from './connector.ts';

/** Most that are kept while the core is away. */
const maxKept = 1_000;
/** So many that were said last are said again after a break: nobody knows whether they arrived, and twice is harmless. */
const keptWhenSaid = 100;

/** What has become of replies on the channel, until the core has surely heard it. Lines of the link, oldest first. */
export type DeliveryAcks = {
  add(line: string): void;
  /** Sends what has not been sent over this link. Only while it is open. */
  flush(): void;
  /** The link broke. */
  takeBreak(): void;
  areWaiting(): boolean;
};

export function createDeliveryAcks(write: (line: string) => void, log: StartContext['log']): DeliveryAcks {
  const lines: string[] = [];
  let unsaid = 0;
  let isDropping = false;

  return {
    add(line) {
      lines.push(line);
      unsaid++;
      if (unsaid <= maxKept) return;
      lines.splice(0, lines.length - maxKept);
      unsaid = maxKept;
      if (!isDropping)
        log(
          'error',
          `more than ${maxKept} acknowledgements wait for the core; the oldest are dropped, and their replies may be shown twice`,
        );
      isDropping = true;
    },

    flush() {
      for (const line of unsaid === 0 ? [] : lines.slice(-unsaid)) write(line);
      unsaid = 0;
      isDropping = false;
      if (lines.length > keptWhenSaid) lines.splice(0, lines.length - keptWhenSaid);
    },

    takeBreak() {
      unsaid = lines.length;
    },

    areWaiting: () => unsaid > 0,
  };
}
