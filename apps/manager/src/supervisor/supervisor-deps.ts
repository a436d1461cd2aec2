import type { VersionInfo } from '@svc/contract/service.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Telemetry } from '@svc/service-kit/telemetry/telemetry.ts';
import type { ChildRegister } from '@svc/supervisor/child-register.ts';
import type { ConnectorTypes } from '../connector-type/connector-types.ts';
import type { SecretResolver } from './secrets.ts';

/** What the supervisor and each of its instances work with. */
export type SupervisorDeps = {
  settings: Settings;
  version: VersionInfo;
  paths: DataPaths;
  clock: Clock;
  log: Log;
  telemetry: Telemetry;
  env: Readonly<Record<string, string | undefined>>;
  types: ConnectorTypes;
  secrets: SecretResolver;
  childEntry: string;
  register: ChildRegister;
  /** An instance runs or has beaten. */
  onAlive(id: string): void;
};
