import type { settingGroups, Settings } from './settings.ts';

// Which process reads which settings: whole groups of `.env.example`, and single settings of others' groups.

type Groups = typeof settingGroups;
type In<Name extends keyof Groups> = keyof Groups[Name];

/** What any process reads: where the program and its data are, its address, how it logs and stops. */
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
  // Where its events and its pushes go.
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
  // Ports that no connector may be given.
  | In<'Dashboard'>
  | 'vaultPort'
>;

/** `engineRegistry`: npm's, for the libraries of OpenTelemetry and of connectors too. */
export type CollectorSettings = Pick<
  Settings,
  Everywhere | In<'Collector'> | In<'Updates'> | 'otel' | 'engineRegistry' | CoreAccess | 'managerPort' | 'managerToken'
>;

/** It asks all others for the person who has signed in. `engineRegistry`: npm's, for the tools that build its pages. */
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

/** The operator's commands ask the running processes, so they read little beside ports and tokens. */
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
