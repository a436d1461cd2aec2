import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import type { UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import type { Host } from './examine-service.ts';
import type { Journal } from './journal.ts';
import type { ListInstances } from './lost-connectors.ts';
import type { ServiceWatch } from './switch-version.ts';
import type { VersionSource } from './version-source.ts';

/** How the running service is reached. */
export type Switch = ServiceWatch & {
  /** Of the host processes whose commit counts. */
  hosts(): Host[];
  coreUrl(): string;
  instances: ListInstances;
  /** Starts the service when nothing runs it. */
  start(): Promise<void>;
};

export type UpdateSettings = Pick<Settings, 'updateAllowUnsigned' | 'updateVerifyMs' | 'stopTimeoutMs' | 'bindHost' | 'dataDir'>;

/** What an update works with. `root`: the code that runs this, in a version folder. */
export type UpdateContext = {
  root: string;
  places: UpdatePlaces;
  settings: UpdateSettings;
  data: DataPaths;
  source: VersionSource;
  service: Switch;
  /** One line for a person at each step. */
  say(line: string): void;
  /** Called when a phase begins, after it was written down. */
  onPhase(journal: Journal): void;
  now(): number;
};
