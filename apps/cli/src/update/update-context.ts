import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import type { UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import type { Host } from './examine-service.ts';
import type { Journal } from './journal.ts';
import type { ListInstances } from './lost-connectors.ts';
import type { ServiceWatch } from './switch-version.ts';
import type { VersionSource } from './version-source.ts';

/** Access to the running service. */
export type Switch = ServiceWatch & {
  /** The host processes whose commit is checked. */
  hosts(): Host[];
  coreUrl(): string;
  instances: ListInstances;
  /** Starts the service when it is not running. */
  start(): Promise<void>;
};

export type UpdateSettings = Pick<Settings, 'updateAllowUnsigned' | 'updateVerifyMs' | 'stopTimeoutMs' | 'bindHost' | 'dataDir'>;

/** The dependencies of an update. `root`: the running code, in a version folder. */
export type UpdateContext = {
  root: string;
  places: UpdatePlaces;
  settings: UpdateSettings;
  data: DataPaths;
  source: VersionSource;
  service: Switch;
  /** One line for a person at each step. */
  say(line: string): void;
  /** Called when a phase begins, after it was recorded. */
  onPhase(journal: Journal): void;
  now(): number;
};
