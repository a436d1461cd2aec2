import { tmpdir } from 'node:os';
import path from 'node:path';

/** The paths in the data folder. It contains every file of the service; folders have mode 0700, files 0600. */
export type DataPaths = {
  root: string;
  coreDb: string;
  managerDb: string;
  collectorDb: string;
  /** The search index; it can be rebuilt from `collectorDb`. */
  searchDb: string;
  vaultDb: string;
  /** Logins and their sessions. Not part of backups. */
  loginDb: string;
  run: string;
  /** Large request bodies while they are received. */
  bodies: string;
  logs: string;
  spool: string;
  engines: string;
  /** The state that engines keep between starts, one folder each. */
  engineState: string;
  /** The working folder of turns of people who may let the assistant act, unless another folder is set. */
  workspace: string;
  /** The working folders of all other turns, one for each conversation. */
  workspaces: string;
  connectors: string;
  instances: string;
  uploads: string;
  /** Attachments by conversation, where engines read them. */
  attachments: string;
  /** Copies of git repositories that turns work in. */
  checkouts: string;
  silos: string;
  /** The key that signs passes of connector processes. */
  connectorKey: string;
  /** The key that encrypts the secrets in `loginDb`. */
  loginKey: string;
  backups: string;
  restore: string;
  trustSeed: string;
  /** Exists since trust was first set up. */
  trustSetUp: string;
  /** Secrets by name. A setting may name another file; the same holds for `prices` and `denyList`. */
  secrets: string;
  prices: string;
  denyList: string;
  /** The operator's description of the assistant. */
  persona: string;
  /** Personas of single connectors, used instead of `persona`; one file each. */
  personas: string;
  /** The rules that the core enforces for each connector; written by the manager. */
  instanceRules: string;
  instanceWorth: string;
  /** The operator's choices about updates. */
  updateSettings: string;
  /** The result of the last check for updates. */
  updateCheck: string;
  /** The set-up steps of updates that were applied. */
  setupSteps: string;
  /** Libraries of OpenTelemetry, if the export is on. */
  otel: string;
  /** Data that can be rebuilt: compiled code of added connectors, libraries of connectors. */
  cache: string;
  supervisorState: string;
  supervisorLock: string;
  /** The connector link of the core. A socket path is limited to about 100 bytes, so with a deep data folder it is elsewhere. */
  coreSocket: string;
};

export function dataPaths(dataDir: string): DataPaths {
  const at = (...parts: string[]) => path.join(dataDir, ...parts);
  return {
    root: dataDir,
    coreDb: at('core.db'),
    managerDb: at('manager.db'),
    collectorDb: at('collector.db'),
    searchDb: at('collector-search.db'),
    vaultDb: at('vault', 'vault.db'),
    loginDb: at('login.db'),
    run: at('run'),
    bodies: at('run', 'bodies'),
    logs: at('logs'),
    spool: at('spool'),
    engines: at('engines'),
    engineState: at('engine-state'),
    workspace: at('workspace'),
    workspaces: at('workspaces'),
    connectors: at('connectors'),
    instances: at('instances'),
    uploads: at('uploads'),
    attachments: at('attachments'),
    checkouts: at('checkouts'),
    silos: at('silos'),
    connectorKey: at('connector.key'),
    loginKey: at('login.key'),
    backups: at('backups'),
    restore: at('restore'),
    trustSeed: at('trust.seed.json'),
    trustSetUp: at('trust.set-up'),
    secrets: at('secrets.json'),
    prices: at('pricing.json'),
    denyList: at('moderation.deny.txt'),
    persona: at('persona.md'),
    personas: at('personas'),
    instanceRules: at('instance-rules.json'),
    instanceWorth: at('instance-worth.json'),
    updateSettings: at('update.json'),
    updateCheck: at('update-check.json'),
    setupSteps: at('setup-steps.json'),
    otel: at('otel'),
    cache: at('cache'),
    supervisorState: at('run', 'supervisor.json'),
    supervisorLock: at('run', 'supervisor.lock'),
    coreSocket: socketPath(at('run', 'core.sock')),
  };
}

const fitsSocket = (file: string) => Buffer.byteLength(file) <= 100;

function socketPath(wanted: string): string {
  if (fitsSocket(wanted)) return wanted;
  const { createHash } = process.getBuiltinModule('node:crypto'); // loaded only for a long path
  const name = createHash('sha256').update(wanted).digest('hex').slice(0, 16);
  const under = (folder: string) => path.join(folder, `svc-${process.getuid?.() ?? 'user'}-${name}`, 'core.sock');
  const inTemp = under(tmpdir());
  return fitsSocket(inTemp) ? inTemp : under('/tmp'); // TMPDIR may be deep too
}
