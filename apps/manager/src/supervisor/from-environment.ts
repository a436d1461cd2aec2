import type { InstanceConfig } from '@svc/contract/instance.ts';
import type { ManagerSettings } from '@svc/service-kit/config/process-settings.ts';

/** What the operator has set for all instances of a type beside their own configs (spec: `SVC_MCP_CLIENTS_FILE`). */
export function withEnvironment(
  instance: InstanceConfig,
  { mcpClientsFile }: Pick<ManagerSettings, 'mcpClientsFile'>,
): InstanceConfig {
  if (instance.type !== 'toolserver' || mcpClientsFile === null) return instance;
  return { ...instance, config: { ...instance.config, clients_file: mcpClientsFile } };
}
