import { tmpdir } from 'node:os';
import path from 'node:path';

/** Where things lie under the data folder. Every file of the service is under it, folders 0700, files 0600. */
export type DataPaths = {
  root: string;
  coreDb: string;
  managerDb: string;
  collectorDb: string;
  /** The index of what was said; it can be made again from `collectorDb`. */
  searchDb: string;
  vaultDb: string;
  /** Who may sign in, and where they are. No backup holds it. */
  loginDb: string;
  run: string;
  /** Large bodies of requests while they come. */
  bodies: string;
  logs: string;
  spool: string;
  engines: string;
  /** What engines keep of their own between starts, a folder each. */
  engineState: string;
  /** Where turns of those work who may let the assistant act, unless a folder is set. */
  workspace: string;
  /** Where turns of everybody else work, a folder for each conversation. */
  workspaces: string;
  connectors: string;
  instances: string;
  uploads: string;
  /** Attachments by conversation, where engines read them. */
  attachments: string;
  /** Copies of git repositories that turns work in. */
  checkouts: string;
  silos: string;
  /** What passes of connector processes are sealed with. */
  connectorKey: string;
  /** What the secrets in `loginDb` are sealed with. */
  loginKey: string;
  backups: string;
  restore: string;
  trustSeed: string;
  /** Here since trust was first set up. */
  trustSetUp: string;
  /** Secrets by name, unless a setting names another file. So are `prices` and `denyList`. */
  secrets: string;
  prices: string;
  denyList: string;
  /** The operator's own words on who the assistant is. */
  persona: string;
  /** Personas that single connectors have in its place, a file each. */
  personas: string;
  /** What the core holds each connector to; written by the manager. */
  instanceRules: string;
  instanceWorth: string;
  /** What the operator chose about updates. */
  updateSettings: string;
  /** What the last look for a newer version found. */
  updateCheck: string;
  /** Which set-up steps of updates were applied. */
  setupSteps: string;
  /** Libraries of OpenTelemetry, where they are wanted. */
  otel: string;
  /** What can be made again: compiled code of added connectors, libraries of connectors. */
  cache: string;
  supervisorState: string;
  supervisorLock: string;
  /** The connector link of the core. A socket path is limited to about 100 bytes, so a deep data folder gets one elsewhere. */
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
  const { createHash } = process.getBuiltinModule('node:crypto'); // where paths are short nothing needs it
  const name = createHash('sha256').update(wanted).digest('hex').slice(0, 16);
  const under = (folder: string) => path.join(folder, `svc-${process.getuid?.() ?? 'user'}-${name}`, 'core.sock');
  const inTemp = under(tmpdir());
  return fitsSocket(inTemp) ? inTemp : under('/tmp'); // TMPDIR may be deep, too
}
