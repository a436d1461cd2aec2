import type { InstanceConfig } from '@svc/contract/instance.ts';
import type { ManagerSettings } from '@svc/service-kit/config/process-settings.ts';

/** The instance with settings that the operator made for all instances of its type (spec: `SVC_MCP_CLIENTS_FILE`). */
export function withEnvironment(
  instance: InstanceConfig,
  { mcpClientsFile }: Pick<ManagerSettings, 'mcpClientsFile'>,
): InstanceConfig {
  if (instance.type !== 'toolserver' || mcpClientsFile === null) return instance;
  return { ...instance, config: { ...instance.config, clients_file: mcpClientsFile } };
}
