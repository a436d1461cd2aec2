import { counted } from '@svc/service-kit/words.ts';
import type { DeliveryCounts } from '@svc/contract/delivery.ts';
import type { VersionInfo } from '@svc/contract/service.ts';
import { createApp, type App } from '@svc/service-kit/http/create-app.ts';
import { mountAnnouncementRoutes } from './announcement/announcement-routes.ts';
import { mountAuthRoutes } from './auth/auth-routes.ts';
import { mountApiKeyRoutes } from './api-key/api-key-routes.ts';
import { mountAskRoutes } from './ask/ask-routes.ts';
import { mountBackupRoutes } from './backup/backup-routes.ts';
import { mountCheckoutRoutes } from './checkout/checkout-routes.ts';
import type { CoreContext } from './context.ts';
import { createCoreAccess } from './core-access.ts';
import { setAsideFaults } from './db/open-core-db.ts';
import { mountDeliveryRoutes } from './delivery/delivery-routes.ts';
import { mountEngineRoutes } from './engine/engine-routes.ts';
import { mountErasureRoutes } from './erasure/erasure-routes.ts';
import { mountFeedRoutes } from './feed/feed-routes.ts';
import { mountFolderRoutes } from './folder/folder-routes.ts';
import { mountInstanceRoutes } from './instance/instance-routes.ts';
import { mountPersonaRoutes } from './persona/persona-routes.ts';
import { mountPricingRoutes } from './pricing/pricing-routes.ts';
import { unpricedNotices } from './pricing/unpriced.ts';
import { mountQueryRoutes } from './query/query-routes.ts';
import { mountSecretAdminRoutes } from './secret/secret-admin-routes.ts';
import { mountSecretRoutes } from './secret/secret-routes.ts';
import { mountSessionRoutes } from './session/session-routes.ts';
import { mountSiloRoutes } from './silo/silo-routes.ts';
import { mountSpeechRoutes } from './speech/speech-routes.ts';
import { mountSpendRoutes } from './spend/spend-routes.ts';
import { mountSessionChanges } from './steering/session-changes.ts';
import { mountSteeringRoutes } from './steering/steering-routes.ts';
import { mountTerminalRoutes } from './terminal/terminal-routes.ts';
import { mountTriageRoutes } from './steering/triage-routes.ts';
import { mountToolServerRoutes } from './tool-server/tool-server-routes.ts';
import { mountDeviceToolRoutes } from './toolbelt/device-tool-routes.ts';
import { mountToolbeltRoutes } from './toolbelt/toolbelt-routes.ts';
import { mountInvitationRoutes } from './trust/invitation-routes.ts';
import { mountPendingRoutes } from './trust/pending-routes.ts';
import { mountTrustRoutes } from './trust/trust-routes.ts';
import { mountTurnRoutes } from './turn/turn-routes.ts';
import { mountUpdateRoutes } from './update/update-routes.ts';
import { mountUploadRoutes } from './upload/upload-routes.ts';
import { mountVaultAgentRoutes } from './vault/vault-agent-routes.ts';
import { mountVaultCareRoutes } from './vault/vault-care-routes.ts';
import { mountVaultRoutes } from './vault/vault-routes.ts';
import { mountWatchRoutes } from './watch/watch-routes.ts';

/** The core's HTTP app. `linkFault`: why no connector can connect. */
export function createCoreApp(context: CoreContext, version: VersionInfo, linkFault: () => string | null = () => null): App {
  const { settings, log } = context;
  return createApp({
    service: 'core',
    version,
    log,
    allowedHosts: [settings.bindHost, ...settings.allowedHosts],
    mask: context.knownSecrets.mask,
    intake: context.intake,
    remoteUsers: context.remoteUsers,
    health: () => ({
      active: context.pipeline.counts().running,
      waiting: context.pipeline.counts().waiting,
      deliveries: context.outbox.counts(),
      telemetry: context.telemetry.status(),
      notices: [
        ...context.spend.warnings(),
        ...unpricedNotices(context),
        ...context.telemetry.notices(),
        ...deliveryNotices(context.outbox.counts()),
        ...context.engineUpdates.notices(),
        ...context.toolServers.notices(),
        ...context.subscriptionWarning.notices(),
        ...context.vault.notices(),
        ...context.folders.notices(),
        ...context.ruleCheck.notices(),
        ...context.backups.notices(),
        ...context.uploads.notices(),
        ...context.erasures.notices(),
        ...context.endedEngineSessions.notices(),
      ],
      degraded: [
        storageFault(context),
        linkFault(),
        context.loginDb.fault(),
        ...setAsideFaults(context.paths.root),
        context.trust.fault(),
        context.moderation.fault(),
        context.knownSecrets.fault(),
        context.knownSecrets.threadFault(),
        context.pricing.fault(),
        context.telemetry.fault(),
        context.persona.fault(),
        context.instanceRules.fault(),
      ].filter((fault) => fault !== null),
    }),
    routes: (app) => {
      app.addHook('onRequest', createCoreAccess(context));
      mountTurnRoutes(app, context);
      mountSessionRoutes(app, context);
      mountWatchRoutes(app, context);
      mountSteeringRoutes(app, context);
      mountAskRoutes(app, context);
      mountTriageRoutes(app, context);
      mountSessionChanges(app, context);
      mountDeliveryRoutes(app, context);
      mountAnnouncementRoutes(app, context);
      mountPersonaRoutes(app, context);
      mountFolderRoutes(app, context);
      mountInstanceRoutes(app, context);
      mountCheckoutRoutes(app, context);
      mountTerminalRoutes(app, context);
      mountPricingRoutes(app, context);
      mountSpendRoutes(app, context);
      mountTrustRoutes(app, context);
      mountPendingRoutes(app, context);
      mountInvitationRoutes(app, context);
      mountErasureRoutes(app, context);
      mountEngineRoutes(app, context);
      mountToolServerRoutes(app, context);
      mountVaultRoutes(app, context);
      mountVaultCareRoutes(app, context);
      mountVaultAgentRoutes(app, context);
      mountSecretRoutes(app, context);
      mountSecretAdminRoutes(app, context);
      mountApiKeyRoutes(app, context);
      mountToolbeltRoutes(app, context);
      mountDeviceToolRoutes(app, context);
      mountUploadRoutes(app, context);
      mountSiloRoutes(app, context);
      mountBackupRoutes(app, context);
      mountUpdateRoutes(app, { ...context, version });
      mountSpeechRoutes(app, context);
      mountFeedRoutes(app, context);
      mountQueryRoutes(app, context);
      mountAuthRoutes(app, context);
    },
  });
}

/** Reports that replies have failed, and where to find them. */
function deliveryNotices({ pending, failed }: DeliveryCounts): string[] {
  if (failed === 0) return [];
  const what = counted(failed, 'reply', 'replies');
  const rest = pending === 0 ? '' : `, ${pending} ${pending === 1 ? 'is' : 'are'} still being retried`;
  return [`${what} could not be delivered${rest}: ./svc delivery`];
}

function storageFault({ db, paths }: CoreContext): string | null {
  const damage = db.damage();
  if (damage !== null) return damage.message;
  const fault = db.fault();
  return fault === null ? null : `nothing can be stored in ${paths.root} (${fault}), so messages are refused`;
}
