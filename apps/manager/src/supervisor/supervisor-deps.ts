import type { VersionInfo } from '@svc/contract/service.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { ManagerSettings } from '@svc/service-kit/config/process-settings.ts';
import type { ConnectorPasses } from '@svc/service-kit/connector-pass.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Telemetry } from '@svc/service-kit/telemetry/create-telemetry.ts';
import type { PidFile } from '@svc/supervisor/pid-file.ts';
import type { ConnectorPackageStore } from '../connector-type/connector-packages.ts';
import type { WebAppBuilds } from '../connector-type/web-app-builds.ts';
import type { ConnectorTypes } from '../connector-type/connector-types.ts';
import type { CompileCache } from './compile-cache.ts';
import type { ExclusiveSecrets } from './exclusive-secrets.ts';
import type { SecretResolver } from './secrets.ts';
import type { VaultGate } from './vault-gate.ts';

/** What the supervisor and each of its instances work with. */
export type SupervisorDeps = {
  settings: ManagerSettings;
  version: VersionInfo;
  paths: DataPaths;
  clock: Clock;
  log: Log;
  telemetry: Telemetry;
  env: Readonly<Record<string, string | undefined>>;
  types: ConnectorTypes;
  secrets: SecretResolver;
  exclusiveSecrets: ExclusiveSecrets;
  vaultGate: VaultGate;
  /** Issues each process the pass by which the core recognizes it. */
  passes: Pick<ConnectorPasses, 'issue'>;
  /** Masks known secrets, and text that looks like a secret, in a line of a log. */
  maskLine(line: string): string;
  /** Masks the known secrets of this installation. Throws when they are not known. */
  maskKnown(text: string): string;
  childEntry: string;
  compileCache: CompileCache;
  packages: ConnectorPackageStore;
  webApps: WebAppBuilds;
  pidFile: PidFile;
  /** A better reason of an exit than the process could give; null if there is none. */
  explainExit(reason: string): Promise<string | null>;
  /** An instance started to run or sent a heartbeat. */
  onAlive(id: string): void;
};
