import { appendFileSync } from 'node:fs';
import { writeFileAtomic, readIfThere } from '@svc/service-kit/files.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { StartContext } from '../connector.ts';

/** The ids of messages that this instance has shown, kept across restarts. */
export type SentIds = { has(id: string): boolean; add(id: string): void };

/** Repeats usually come within minutes, rarely after a day. */
const kept = 2_000;

/** Reads the file, one id per line. Beyond `max` ids, the oldest are forgotten. */
export function openSentIds(file: string, log: StartContext['log'], max = kept): SentIds {
  const ids = new Set(readLines(file).slice(-max));
  // Rewritten, so that a last line that a killed process left incomplete does not merge with the next one.
  let lines = rewrite(file, ids, log) ? ids.size : Infinity;

  function append(id: string): void {
    try {
      appendFileSync(file, `${id}\n`, { mode: 0o600 });
      lines++;
    } catch (error) {
      // The message was shown; at worst it is shown twice.
      log('error', 'a sent message could not be recorded', { error: errorText(error) });
    }
  }

  return {
    has: (id) => ids.has(id),
    add(id) {
      ids.add(id);
      forgetOldest(ids, max);
      if (lines < 2 * max) append(id);
      else if (rewrite(file, ids, log)) lines = ids.size;
    },
  };
}

const readLines = (file: string): string[] => (readIfThere(file) ?? '').split('\n').filter(Boolean);

function rewrite(file: string, ids: Iterable<string>, log: StartContext['log']): boolean {
  try {
    writeFileAtomic(file, [...ids].map((id) => `${id}\n`).join(''));
    return true;
  } catch (error) {
    log('error', 'the list of sent messages could not be written', { error: errorText(error) });
    return false;
  }
}
