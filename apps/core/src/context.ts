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
import { createPersonaFiles } from './persona/persona-files.ts';
import { createPersona } from './persona/persona.ts';
import { openPricing } from './pricing/pricing.ts';
import { createConnectorSecrets } from './secret/connector-secrets.ts';
import { createSecretList } from './secret/secret-list.ts';
import { createSecretUses } from './secret/secret-users.ts';
import { createSecrets } from './secret/secrets.ts';
import { createClaims } from './session/claims.ts';
import { instanceOfKey, terminalKey } from './session/conversation-key.ts';
import { createConversationFiles } from './session/conversation-files.ts';
import { forgetSession } from './session/forget-session.ts';
import { openObservedStore } from './session/observed-store.ts';
import { createSessionStore } from './session/session-store.ts';
import { createTitleStore } from './session/title-store.ts';
import { createWorkspaces } from './session/workspaces.ts';
import { Silos } from './silo/silos.ts';
import { createSpeech } from './speech/speech.ts';
import { openSpend } from './spend/spend.ts';
import { createTitleLane } from './steering/title-lane.ts';
import { createTitles } from './steering/titles.ts';
import { createTerminalStore } from './terminal/terminal-store.ts';
import { birthMark } from '@svc/service-kit/process/birth-mark.ts';
import { killGroup } from '@svc/service-kit/process/process-group.ts';
import { userName } from '@svc/service-kit/user-name.ts';
import { createTalkStore } from './terminal/talk-store.ts';
import { createTerminalTalks } from './terminal/terminal-talks.ts';
import { createTerminals } from './terminal/terminals.ts';
import { openTerminalWords } from './terminal/open-terminal-words.ts';
import { createTmuxServer } from './terminal/tmux-server.ts';
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

/** Everything the core is made of, built once. Parts say what they need of it by the types of the parts. */
export type CoreContext = Awaited<ReturnType<typeof createCoreContext>>;

export type CoreDeps = {
  settings: Settings;
  clock: Clock;
  ids: Ids;
  log: Log;
  env: Readonly<Record<string, string | undefined>>;
  /** Whom the dashboard's proxy proves; nobody unless given. */
  remoteUsers?: RemoteUsers;
  /** Other parts in place of the real ones, for tests. */
  overrides?: { telemetry?: Telemetry; toolbelt?: Toolbelt; sendToChannel?: SendToChannel } & EngineOverrides;
};

/** Builds the context in the order of need; `close` walks back. */
export async function createCoreContext({ settings: allSettings, clock, ids, log, env, remoteUsers, overrides }: CoreDeps) {
  const settings: CoreSettings = allSettings;
  const foundation = openFoundation({ settings: allSettings, clock, ids, log, env, telemetry: overrides?.telemetry });
  const { paths, db, loginDb, knownSecrets, telemetry, events, trustAudit: audit } = foundation;
  const instanceRules = openInstanceRules({ file: paths.instanceRules, instanceOfKey, clock, log });
  const people = await openPeople({ db, paths, audit, rulesOf: instanceRules.ofPlace, events, clock, ids, log });
  const { trust, trustAdmin } = people;
  const auth = openAuth({ loginDb, paths, events, clock, ids, log });
  instanceRules.onChange(trust.changed);
  const pricing = await openPricing({ settings, clock, log });
  const spend = await openSpend({ db, settings, clock, events, log, toIdentifierValue });
  const manager = createManagerReader(settings);
  const record = createRecordChange({ db, audit, events });
  const secretPlaces = { env, file: settings.secretsFile, command: settings.secretsCommand };
  const silos = new Silos({ db, folder: paths.silos, vault: vaultOfSettings(settings), clock, ids });
  const vault = createVaultLink({
    settings,
    clock,
    log,
    onBack: () =>
      engineIds.forEach((id) => {
        engineParts.engineFallback.answered(id);
        engines.changed(id).catch((error: unknown) => log.warn({ err: error, engine: id }, 'no engine could be chosen'));
      }),
    onClosed: silos.forgetKeys,
  });
  const secrets = createSecrets({ ...secretPlaces, vault: vault.place, knownSecrets });
  const { close: closeEngines, ...engineParts } = await openEngines({
    db,
    settings,
    paths,
    env,
    clock,
    log,
    secrets,
    events,
    overrides,
  });
  const { engines } = engineParts;
  const toolbelt = overrides?.toolbelt ?? openToolbelt({ settings, env, knownSecrets, clock, log });
  const toolServers = await openToolServers({ db, clock, log, knownSecrets, secrets, builtIns: [toolbelt, toolbelt.device] });
  const workspaces = createWorkspaces(paths.root, clock);
  const toolTests = createToolTests({ toolServers, knownSecrets, env, workspaces, paths });
  const journal = createTurnJournal(db, clock);
  const deliveries = createDeliveryStore(db, clock, ids);
  const send = overrides?.sendToChannel;
  const outbox = openOutbox({ settings, db, deliveries, journal, events, knownSecrets, clock, log, send });
  const dataDir = paths.root;
  const { folders, folderLooks } = await openFolders({ db, audit, events, clock, dataDir, workspaces, instanceRules, log });
  const titleLane = createTitleLane();
  const titles = createTitles({
    ...engineParts,
    settings,
    knownSecrets,
    workspaces,
    pricing,
    spend,
    ids,
    events,
    clock,
    log,
    journal,
    titleStore: createTitleStore(db),
    titleLane,
    counts: () => pipeline.counts(),
  });
  const sessions = createSessionStore(db, clock);
  const claims = await createClaims(db);
  const tmux = createTmuxServer({ run: paths.run, path: env['PATH'] });
  const talks = createTerminalTalks({
    store: createTalkStore(db),
    engines,
    pricing,
    spend,
    knownSecrets,
    events,
    clock,
    user: userName(),
  });
  const terminals = createTerminals({
    tmux,
    onReleased: (key) => terminalWords.released(key),
    store: createTerminalStore(db),
    keyOf: terminalKey,
    programOf: (id, request) => programInTerminal(engines, id, request),
    isBusy: (key) => pipeline.isBusy(key),
    looks: folderLooks,
    sessions,
    claims,
    workspaces,
    programs: { birthOf: birthMark, kill: killGroup },
    talks,
    events,
    clock,
    ids,
    log,
  });
  const announcements = await openAnnouncements(db, clock);
  const terminalWords = openTerminalWords({
    db,
    tmux,
    terminals,
    talks,
    announcements,
    unread: (key) => unreadMail({ announcements, sessions, trust }, key),
    journal,
    inject: (...words) => pipeline.inject(...words),
    clock,
    ids,
    log,
  });
  const version = versionOf(settings.root);
  const persona = createPersona({ file: paths.persona, folder: paths.personas, assistantName: settings.assistantName, clock });
  const parts = {
    ...foundation,
    settings,
    clock,
    ids,
    log,
    ...people,
    subscriptionWarning: createSubscriptionWarning({
      countOthers: async () => countOthers(await trustAdmin.listPrincipals(), await trustAdmin.listRoles(), clock.now()),
      engines,
      clock,
      log,
    }),
    persona,
    personaFiles: createPersonaFiles({ file: paths.persona, folder: paths.personas }),
    instanceRules,
    ruleCheck: createRuleCheck({ engines, engineIds, folderLooks, tidyPath, persona, trustAdmin, instanceRules, clock }),
    pricing,
    spend,
    sessions,
    observed: await openObservedStore(db, clock),
    announcements,
    workspaces,
    folders,
    folderLooks,
    asks: createOpenAsks(),
    askStore: createAskStore(db),
    moderation: openModeration({ settings, secrets, clock, log }),
    vault,
    secrets,
    listSecrets: createSecretList({
      places: secretPlaces,
      vault,
      uses: createSecretUses({ manager, toolServers, engineKeys: engineParts.engineKeys, settings }),
      clock,
    }),
    connectorPasses: openConnectorPasses(paths.connectorKey),
    checkouts: await openCheckouts({
      folder: paths.checkouts,
      settings,
      credentialOf: createCredentialOf({ settings, manager, secrets }),
      env,
      isBusy: (key) => pipeline.isBusy(key) || claims.isClaimed(key),
      clock,
      ids,
      log,
    }),
    connectorSecrets: createConnectorSecrets({ manager, secrets, clock, log }),
    apiKeys: createApiKeys({ manager, instancesDir: paths.instances, trustAdmin, spend, record, knownSecrets, clock }),
    record,
    ...engineParts,
    toolServers,
    toolTests,
    toolbelt,
    callInstance: createInstanceCaller(`http://${settings.bindHost}:${settings.managerPort}`, settings.managerToken),
    journal,
    titles,
    titleLane,
    claims,
    terminals,
    terminalWords,
    deliveries,
    outbox,
    uploads: new Uploads({ uploads: paths.uploads, settings, clock, ids, log, mask: knownSecrets.mask }),
    conversationFiles: createConversationFiles({ folder: paths.attachments, uploads: paths.uploads, log }),
    silos,
    backups: new Backups({ db, paths, settings, version, clock, ids, log, holdFiles: silos.hold }),
    imports: createImports({ paths, settings, version, clock, ids }),
    speech: createSpeech({ settings, secrets, knownSecrets, pricing, spend, events, clock, env }),
    feeds: createOpenFeeds(),
    remoteUsers,
    env,
    auth,
    linkLogin: () => linkLogin({ account: () => auth.signIn.account(), trustAdmin, clock, log }),
    watches: createSessionWatches({ knownSecrets, clock, log }),
    intake: createIntake(paths.root),
  };
  const pipeline = createPipeline(parts);
  const erasures = openErasures({
    ...parts,
    pipeline,
    toIdentifierValue,
    seeded: () => seededPrincipals(paths.trustSeed),
    forgetSession: (key, actor) => forgetSession(parts, key, actor),
  });
  return {
    ...parts,
    pipeline,
    erasures,
    async close() {
      erasures.close();
      instanceRules.close();
      await titles.close();
      terminalWords.close();
      await terminals.close();
      parts.checkouts.close();
      vault.close();
      parts.connectorSecrets.close();
      await parts.backups.close();
      outbox.close();
      await toolTests.close();
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
