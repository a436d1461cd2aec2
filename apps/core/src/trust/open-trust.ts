import { existsSync } from 'node:fs';
import { seedActor } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import { writeFileAtomic } from '@svc/service-kit/files.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import { seedTrust } from './seed-trust.ts';
import type { TrustAudit } from './trust-audit.ts';
import { createTrustService, type RulesOf, type TrustService } from './trust-service.ts';
import { createTrustStore } from './trust-store.ts';

type Deps = {
  db: Database;
  paths: DataPaths;
  audit: TrustAudit;
  rulesOf?: RulesOf;
  clock: Clock;
  ids: Ids;
  log: Pick<Log, 'error'>;
};

/** Sets trust up and opens it. If that fails, everybody is denied, and the service keeps running to report why. */
export async function openTrust({ db, paths, audit, rulesOf, clock, ids, log }: Deps): Promise<TrustService> {
  const store = createTrustStore(db, clock, ids);
  const trust = createTrustService(store, clock, rulesOf);
  try {
    const lost = (await store.isEmpty()) ? lostStore(paths) : null;
    if (lost !== null) throw new Error(lost);
    await db.transaction((tx) =>
      seedTrust(createTrustStore(tx, clock, ids), paths.trustSeed, (change) =>
        audit.add(tx, { actor: seedActor, what: 'seeded', before: null, ...change }),
      ),
    );
    markSetUp(paths);
    trust.changed();
  } catch (error) {
    log.error({ err: error }, 'trust could not be set up; everybody is denied');
    trust.closeGate(`trust could not be set up, so everybody is denied: ${errorText(error)}`);
  }
  return trust;
}

type Places = Pick<DataPaths, 'trustSetUp' | 'coreDb'>;

const words = `This file was written when trust was first set up. While it exists, a trust store that is missing or empty lets nobody in.
`;

/**
 * Why an empty trust store is a fault and not a new installation; null when all is well. If a lost store were treated as new,
 * it would let in again everybody whom the first start lets in.
 */
function lostStore({ trustSetUp: mark, coreDb }: Places): string | null {
  if (!existsSync(mark)) return null;
  return (
    `the trust store ${coreDb} is empty, though trust had been set up here. Restore it from a backup; ` +
    `or remove ${mark} and restart to start over`
  );
}

/** Marks, outside the store, that there is one. Throws when the folder cannot be written to. */
function markSetUp({ trustSetUp: mark }: Places): void {
  if (!existsSync(mark)) writeFileAtomic(mark, words);
}
