import type { Database } from '@svc/store/database.ts';
import type { Events } from '../events.ts';
import type { NewTrustChange, TrustAudit } from './trust-audit.ts';

/** Records a change that is not stored in this database, such as a secret that was set, and sends it as an event. */
export type RecordChange = (change: NewTrustChange) => Promise<void>;

type Deps = { db: Pick<Database, 'run'>; audit: Pick<TrustAudit, 'add'>; events: Pick<Events, 'trustChanged'> };

export const createRecordChange =
  ({ db, audit, events }: Deps): RecordChange =>
  async (change) =>
    events.trustChanged(await audit.add(db, change));
