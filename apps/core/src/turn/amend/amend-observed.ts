import type { Amendment, AmendOutcome } from '@svc/contract/amend.ts';
import type { ObservedStore } from '../../session/observed-store.ts';
import { parseObservedId } from '../origin.ts';
import type { Database } from '@svc/store/database.ts';
import type { RightToAmend } from './right-to-amend.ts';

type Deps = { observed: Pick<ObservedStore, 'named' | 'amend'>; db: Pick<Database, 'mark' | 'flush'> };

/** An observed message that no turn has used yet gets its new text, or is removed. */
export async function amendObserved(
  { observed, db }: Deps,
  { conversation_key: key, message_id, version, text }: Amendment,
  mayAmend: RightToAmend,
): Promise<AmendOutcome> {
  let outcome: AmendOutcome = 'unknown';
  for (const seen of await observed.named(key)) {
    const { id, sender } = parseObservedId(seen.message_id) ?? {};
    if (sender === undefined || id !== message_id) continue;
    if (!(await mayAmend(sender))) outcome = 'denied';
    else if (seen.amended !== null && seen.amended >= version) outcome = 'unchanged';
    else {
      const since = db.mark();
      await observed.amend(seen.id, text, version);
      await db.flush(since);
      return text === null ? 'dropped' : 'replaced';
    }
  }
  return outcome;
}
