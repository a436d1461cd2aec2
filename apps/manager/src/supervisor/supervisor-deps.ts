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
  /** Issues each process the pass by which the core knows it. */
  passes: Pick<ConnectorPasses, 'issue'>;
  /** Takes what this installation knows to be secret, and what has the form of a secret, out of a line of a log. */
  maskLine(line: string): string;
  /** Takes out the values that this installation knows to be secret. Throws when they are not known. */
  maskKnown(text: string): string;
  childEntry: string;
  compileCache: CompileCache;
  packages: ConnectorPackageStore;
  webApps: WebAppBuilds;
  pidFile: PidFile;
  /** More about the reason of an exit than the process could know; null when there is no more to say. */
  explainExit(reason: string): Promise<string | null>;
  /** An instance runs or has beaten. */
  onAlive(id: string): void;
};
