import type { StartContext } from './connector.ts';

/** Maximum number of reports kept while the core is unreachable. */
const maxKept = 1_000;
/** This many of the latest reports are sent again after a break: they may not have arrived, and a repeat is harmless. */
const keptWhenSaid = 100;

/** Reports about replies on the channel, kept until the core has certainly received them. Lines of the link, oldest first. */
export type DeliveryAcks = {
  add(line: string): void;
  /** Sends the reports that were not yet sent over this link. Call it only while the link is open. */
  flush(): void;
  /** Call it when the link breaks. */
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
