import type { settingGroups, Settings } from './settings.ts';

// Which process reads which settings: whole groups of `.env.example`, and single settings of other groups.

type Groups = typeof settingGroups;
type In<Name extends keyof Groups> = keyof Groups[Name];

/** Read by every process: the folders of the program and its data, its address, how it logs and stops. */
type Everywhere = 'root' | In<'Everywhere'>;
/** How to reach the core. */
type CoreAccess = 'corePort' | 'coreToken';
type VaultAccess = 'vaultUrl' | 'vaultAgentKey' | 'vaultAdminKey';

export type CoreSettings = Pick<
  Settings,
  | Everywhere
  | In<'Core'>
  | In<'Engines'>
  | In<'Moderation'>
  | In<'Uploads'>
  | In<'Speech'>
  | In<'Secrets'>
  | In<'Updates'>
  | VaultAccess
  // For its events and pushes.
  | 'collectorPort'
  | 'insightsToken'
  | 'managerPort'
  | 'managerToken'
>;

export type ManagerSettings = Pick<
  Settings,
  | Everywhere
  | In<'Manager'>
  | In<'Secrets'>
  | VaultAccess
  | CoreAccess
  | 'collectorPort'
  | 'insightsToken'
  | 'engineRegistry'
  // Ports that connectors must not use.
  | In<'Dashboard'>
  | 'vaultPort'
>;

/** `engineRegistry`: also for the libraries of OpenTelemetry. */
export type CollectorSettings = Pick<
  Settings,
  Everywhere | In<'Collector'> | In<'Updates'> | 'otel' | 'engineRegistry' | CoreAccess | 'managerPort' | 'managerToken'
>;

/** It calls all others on behalf of the person who has signed in. `engineRegistry`: for the tools that build its pages. */
export type DashboardSettings = Pick<
  Settings,
  | Everywhere
  | In<'Dashboard'>
  | CoreAccess
  | 'managerPort'
  | 'managerToken'
  | 'collectorPort'
  | 'insightsToken'
  | 'insightsControlToken'
  | 'engineRegistry'
>;

export type VaultSettings = Pick<Settings, Everywhere | 'vaultPort' | 'vaultAdminKey'>;

/** The operator's commands call the running processes, so they read little more than ports and tokens. */
export type CliSettings = Pick<
  Settings,
  | Everywhere
  | In<'Manager'>
  | In<'Vault'>
  | In<'Dashboard'>
  | In<'Updates'>
  | CoreAccess
  | 'collectorPort'
  | 'insightsToken'
  | 'insightsControlToken'
  | 'otel'
>;
