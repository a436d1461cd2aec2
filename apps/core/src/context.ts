import type { Clock } from '@svc/service-kit/clock.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import { openConnectorPasses } from '@svc/service-kit/connector-pass.ts';
import type { RemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import { createIntake } from '@svc/service-kit/intake/intake.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Telemetry } from '@svc/service-kit/telemetry/create-telemetry.ts';
import { vaultOfSettings } from '@svc/service-kit/vault/create-vault-client.ts';
import { versionOf } from '@svc/service-kit/version.ts';
import { createApiKeys } from './api-key/api-keys.ts';
import { createAskStore } from './ask/ask-store.ts';
import { createOpenAsks } from './ask/open-asks.ts';
import { openAuth } from './auth/open-auth.ts';
import { openAnnouncements } from './announcement/announcements.ts';
import { unreadMail } from './announcement/unread-mail.ts';
import { Backups } from './backup/backups.ts';
import { createImports } from './backup/import-backup.ts';
import { openCheckouts } from './checkout/checkouts.ts';
import { createCredentialOf } from './checkout/instance-credentials.ts';
import type { SendToChannel } from './delivery/channel-sender.ts';
import { createInstanceCaller } from './delivery/instance-caller.ts';
import { createDeliveryStore } from './delivery/delivery-store.ts';
import { openOutbox } from './delivery/open-outbox.ts';
import { forgetEngineSession } from './engine/forget-engine-session.ts';
import { programInTerminal } from './engine/program-in-terminal.ts';
import { engineIds } from './engine/load-engine.ts';
import { type EngineOverrides, openEngines } from './engine/open-engines.ts';
import { createSubscriptionWarning } from './engine/subscription-warning.ts';
import { openErasures } from './erasure/open-erasures.ts';
import { createOpenFeeds } from './feed/open-feeds.ts';
import { tidyPath } from './folder/check-folder.ts';
import { openFolders } from './folder/open-folders.ts';
import { createRuleCheck } from './instance/check-rules.ts';
import { openInstanceRules } from './instance/instance-rules.ts';
import { createManagerReader } from './instance/manager-reader.ts';
import { openModeration } from './moderation/open-moderation.ts';
import { openFoundation } from './open-foundation.ts';
import { openPersona } from './persona/open-persona.ts';
import { openPricing } from './pricing/pricing.ts';
import { openSecretParts } from './secret/open-secret-parts.ts';
import { ownSecrets } from './secret/own-secrets.ts';
import { createSecrets } from './secret/secrets.ts';
import { createClaims } from './session/claims.ts';
import { instanceOfKey, terminalKey } from './session/conversation-key.ts';
import { createEndedEngineSessions } from './session/ended-engine-sessions.ts';
import { createConversationFiles } from './session/conversation-files.ts';
import { forgetSession } from './session/forget-session.ts';
import { openObservedStore } from './session/observed-store.ts';
import { createSessionStore } from './session/session-store.ts';
import { createWorkspaces } from './session/workspaces.ts';
import { Silos } from './silo/silos.ts';
import { createSpeech } from './speech/speech.ts';
import { openSpend } from './spend/spend.ts';
import { openTitles } from './steering/open-titles.ts';
import { openTerminals } from './terminal/open-terminals.ts';
import { openToolServers } from './tool-server/tool-servers.ts';
import { createToolTests } from './tool-server/tool-tests.ts';
import { openToolbelt, type Toolbelt } from './toolbelt/toolbelt.ts';
import { toIdentifierValue } from './trust/identifier-value.ts';
import { linkLogin } from './trust/link-login.ts';
import { openPeople } from './trust/open-people.ts';
import { seededPrincipals } from './trust/seed-trust.ts';
import { countOthers } from './trust/owners.ts';
import { createRecordChange } from './trust/record-change.ts';
import { createPipeline } from './turn/pipeline.ts';
import { createTurnJournal } from './turn/turn-journal.ts';
import { Uploads } from './upload/uploads.ts';
import { createVaultLink } from './vault/vault-link.ts';
import { createSessionWatches } from './watch/session-watches.ts';

/** All parts of the core, created once. Each part declares its needs by the types of other parts. */
export type CoreContext = Awaited<ReturnType<typeof createCoreContext>>;

export type CoreDeps = {
  settings: Settings;
  clock: Clock;
  ids: Ids;
  log: Log;
  env: Readonly<Record<string, string | undefined>>;
  /** The users that the dashboard's proxy authenticates; nobody by default. */
  remoteUsers?: RemoteUsers;
  /** Replacements of real parts, for tests. */
  overrides?: { telemetry?: Telemetry; toolbelt?: Toolbelt; sendToChannel?: SendToChannel } & EngineOverrides;
};

/** Creates the parts in the order of their dependencies; `close` reverses it. */
export async function createCoreContext({ settings: allSettings, clock, ids, log, env, remoteUsers, overrides }: CoreDeps) {
  const settings: CoreSettings = allSettings;
  const foundation = openFoundation({ settings: allSettings, clock, ids, log, env, telemetry: overrides?.telemetry });
  const { paths, db, loginDb, knownSecrets, telemetry, events, trustAudit: audit } = foundation;
  // What most parts depend on; each declares the few that it uses.
  const base = { settings, env, paths, db, knownSecrets, events, clock, ids, log };
  const instanceRules = openInstanceRules({ file: paths.instanceRules, instanceOfKey, clock, log });
  const people = await openPeople({ ...base, audit, rulesOf: instanceRules.ofPlace });
  const { trust, trustAdmin } = people;
  const auth = openAuth({ ...base, loginDb });
  knownSecrets.learn(ownSecrets(paths, remoteUsers));
  instanceRules.onChange(trust.changed);
  const pricing = await openPricing(base);
  const spend = await openSpend({ ...base, toIdentifierValue });
  const manager = createManagerReader(settings);
  const record = createRecordChange({ ...base, audit });
  const secretPlaces = { env, file: settings.secretsFile, command: settings.secretsCommand };
  const silos = new Silos({ ...base, folder: paths.silos, vault: vaultOfSettings(settings) });
  const vault = createVaultLink({
    ...base,
    onBack: () =>
      engineIds.forEach((id) => {
        engineParts.engineFallback.answered(id);
        engines.changed(id).catch((error: unknown) => log.warn({ err: error, engine: id }, 'no engine could be chosen'));
      }),
    onClosed: silos.forgetKeys,
  });
  const secrets = createSecrets({ ...secretPlaces, vault: vault.place, knownSecrets });
  const { close: closeEngines, ...engineParts } = await openEngines({ ...base, secrets, overrides });
  const { engines } = engineParts;
  const toolbelt = overrides?.toolbelt ?? openToolbelt(base);
  const toolServers = await openToolServers({ ...base, secrets, builtIns: [toolbelt, toolbelt.device] });
  const workspaces = createWorkspaces(paths, clock);
  const toolTests = createToolTests({ ...base, toolServers, workspaces });
  const journal = createTurnJournal(db, clock);
  const deliveries = createDeliveryStore(db, clock, ids);
  const outbox = openOutbox({ ...base, deliveries, journal, send: overrides?.sendToChannel });
  const { folders, folderLooks } = await openFolders({ ...base, audit, dataDir: paths.root, workspaces, instanceRules });
  const titleParts = openTitles({
    ...base,
    ...engineParts,
    workspaces,
    pricing,
    spend,
    journal,
    counts: () => pipeline.counts(),
  });
  const sessions = createSessionStore(db, clock);
  const endedEngineSessions = createEndedEngineSessions({
    ...base,
    forget: (...session) => forgetEngineSession(engines, ...session),
  });
  const claims = await createClaims(db);
  const announcements = await openAnnouncements(db, clock);
  const { close: closeTerminals, ...terminalParts } = openTerminals({
    ...base,
    trust,
    pricing,
    spend,
    engines,
    sessions,
    claims,
    workspaces,
    announcements,
    journal,
    run: paths.run,
    path: env['PATH'],
    looks: folderLooks,
    keyOf: terminalKey,
    programOf: (id, request) => programInTerminal(engines, id, request),
    unread: (key) => unreadMail({ announcements, sessions, trust }, key),
    isBusy: (key) => pipeline.isBusy(key),
    inject: (...words) => pipeline.inject(...words),
  });
  const version = versionOf(settings.root);
  const personaParts = openPersona(base);
  const parts = {
    ...foundation,
    ...base,
    ...people,
    subscriptionWarning: createSubscriptionWarning({
      ...base,
      engines,
      countOthers: async () => countOthers(await trustAdmin.listPrincipals(), await trustAdmin.listRoles(), clock.now()),
    }),
    ...personaParts,
    instanceRules,
    ruleCheck: createRuleCheck({ ...personaParts, engines, engineIds, folderLooks, tidyPath, trustAdmin, instanceRules, clock }),
    pricing,
    spend,
    sessions,
    endedEngineSessions,
    observed: await openObservedStore(db, clock),
    announcements,
    workspaces,
    folders,
    folderLooks,
    asks: createOpenAsks(),
    askStore: createAskStore(db),
    moderation: openModeration({ ...base, secrets }),
    vault,
    secrets,
    ...openSecretParts({ ...base, ...engineParts, places: secretPlaces, vault, secrets, manager, toolServers }),
    connectorPasses: openConnectorPasses(paths.connectorKey),
    checkouts: await openCheckouts({
      ...base,
      folder: paths.checkouts,
      credentialOf: createCredentialOf({ settings, manager, secrets }),
      isBusy: (key) => pipeline.isBusy(key) || claims.isClaimed(key),
    }),
    apiKeys: createApiKeys({ ...base, manager, instancesDir: paths.instances, trustAdmin, spend, record }),
    record,
    ...engineParts,
    toolServers,
    toolTests,
    toolbelt,
    callInstance: createInstanceCaller(`http://${settings.bindHost}:${settings.managerPort}`, settings.managerToken),
    journal,
    ...titleParts,
    claims,
    ...terminalParts,
    deliveries,
    outbox,
    uploads: new Uploads({ ...base, uploads: paths.uploads, mask: knownSecrets.mask }),
    conversationFiles: createConversationFiles({ ...base, folder: paths.attachments, uploads: paths.uploads }),
    silos,
    backups: new Backups({ ...base, version, holdFiles: silos.hold }),
    imports: createImports({ ...base, version }),
    speech: createSpeech({ ...base, secrets, pricing, spend }),
    feeds: createOpenFeeds(),
    remoteUsers,
    auth,
    linkLogin: () => linkLogin({ account: () => auth.signIn.account(), trustAdmin, clock, log }),
    watches: createSessionWatches(base),
    intake: createIntake(paths.root),
  };
  const pipeline = createPipeline(parts);
  const erasures = openErasures({
    ...parts,
    pipeline,
    toIdentifierValue,
    seeded: () => seededPrincipals(paths.trustSeed),
    forgetSession: (key, actor) => forgetSession({ ...parts, pipeline }, key, actor),
  });
  return {
    ...parts,
    pipeline,
    erasures,
    async close() {
      erasures.close();
      instanceRules.close();
      await titleParts.titles.close();
      await closeTerminals();
      parts.checkouts.close();
      vault.close();
      parts.connectorSecrets.close();
      await parts.backups.close();
      outbox.close();
      await toolTests.close();
      await endedEngineSessions.close();
      await closeEngines();
      await toolbelt.close();
      await telemetry.close(1000);
      await knownSecrets.close();
      await spend.close();
      await people.pending.close();
      people.invitations.close();
      await loginDb.close();
      await db.close();
    },
  };
}
