import path from 'node:path';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { createIntake } from '@svc/service-kit/intake/intake.ts';
import { createApp } from '@svc/service-kit/http/create-app.ts';
import type { RemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import { randomIds as ids } from '@svc/service-kit/ids.ts';
import { createLog } from '@svc/service-kit/log.ts';
import { createKnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { readVersion } from '@svc/service-kit/version.ts';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite } from '@svc/store/open-sqlite.ts';
import { createMemoryTelemetry } from '@svc/testing/memory-telemetry.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createEvents } from '../src/events.ts';
import { openTrust } from '../src/trust/open-trust.ts';
import { mountInvitationRoutes } from '../src/trust/invitation-routes.ts';
import { createInvitations } from '../src/trust/invitations.ts';
import { createRedeemInvitation } from '../src/trust/redeem-invitation.ts';
import { createPairing } from '../src/trust/pairing.ts';
import { openPending } from '../src/trust/pending.ts';
import { mountPendingRoutes } from '../src/trust/pending-routes.ts';
import { createTrustAdmin } from '../src/trust/trust-admin.ts';
import { createTrustAudit } from '../src/trust/trust-audit.ts';
import { mountTrustRoutes } from '../src/trust/trust-routes.ts';
import { createTrustStore } from '../src/trust/trust-store.ts';

const log = createLog('core', 'silent');
const version = readVersion(repositoryRoot, 'core', () => 'stable');

/** The trust framework of a core alone, with its routes: a store in memory, no engine, no turns. The owner is `owner`. */
export async function openTestTrust(clock: Clock, remoteUsers?: RemoteUsers) {
  const folder = temporaryFolder();
  const db = openSqlite(':memory:');
  migrate(db, path.join(import.meta.dirname, '../src/db/migrations'));
  const paths = dataPaths(folder.path);
  const telemetry = createMemoryTelemetry();
  const places = { values: [], env: {}, secretsFile: path.join(folder.path, 'secrets.json'), instancesDir: paths.instances };
  const knownSecrets = createKnownSecrets(places, clock, () => undefined);
  const events = createEvents(telemetry, knownSecrets);
  const trustAudit = createTrustAudit(knownSecrets, clock);
  const trust = await openTrust({ db, paths, audit: trustAudit, clock, ids, log });
  const pending = await openPending({ db, clock, ids, log });
  const trustAdmin = createTrustAdmin({ db, trust, audit: trustAudit, events, clock, ids });
  const pairing = createPairing({ db, pending, trust, audit: trustAudit, events, clock, ids });
  const invitations = createInvitations({ db, audit: trustAudit, events, clock, ids, log });
  const redeemInvitation = createRedeemInvitation({ db, trust, audit: trustAudit, events, clock, ids });
  const context = { invitations, redeemInvitation, db, trust, trustAdmin, trustAudit, pending, pairing, knownSecrets };
  const app = createApp({
    service: 'core',
    version,
    log,
    allowedHosts: [],
    mask: knownSecrets.mask,
    intake: createIntake(folder.path),
    remoteUsers,
    health: () => ({ degraded: [] }),
    routes(app) {
      mountTrustRoutes(app, context);
      mountPendingRoutes(app, context);
      mountInvitationRoutes(app, context);
    },
  });
  const store = createTrustStore(db, clock, ids);

  return {
    folder: folder.path,
    context,
    app,
    telemetry,
    async addPrincipal(key: string, role: string, surface = 'compat'): Promise<void> {
      const id = await store.addPrincipal({ key, display_name: key });
      await store.addGrant(id, role);
      await store.addIdentifier(id, surface, key);
      trust.changed();
    },
    /** Whether a turn of this envelope would run. */
    letsIn: async (envelope: Envelope): Promise<boolean> => !(await trust.resolve(envelope)).denied,
    async close() {
      await app.close();
      invitations.close();
      await pending.close();
      await db.close();
      folder.remove();
    },
  };
}

export type TestTrust = Awaited<ReturnType<typeof openTestTrust>>;
