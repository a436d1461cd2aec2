import { setting } from '../setting.ts';
import { integer, optionalPath, port, token } from '../setting-types.ts';

/** Settings: the manager and its connectors. */
export const managerSettings = {
  managerPort: setting('SVC_MANAGER_PORT', port(), { text: 'Port of the manager.', default: '3024' }),
  managerToken: setting('SVC_MANAGER_TOKEN', token(), {
    text: 'Bearer token of every manager route but /health. Unset: open, with a warning.',
  }),
  heartbeatStaleMs: setting('SVC_HEARTBEAT_STALE_MS', integer(100, 86_400_000), {
    text: 'A connector silent for this long is reported as stale.',
    default: '120000',
  }),
  connectorMemoryMb: setting('SVC_CONNECTOR_MEMORY', integer(96, 65_536), {
    text: 'Memory in MB above which the process of a connector is restarted. A type or an instance (`memory_mb`) may override it.',
    default: '256',
  }),
  mcpClientsFile: setting('SVC_MCP_CLIENTS_FILE', optionalPath(), {
    text: 'Clients of the MCP servers (toolserver) that you register yourself. Unset: clients.json in the folder of each instance.',
  }),
  compatPort: setting('SVC_COMPAT_PORT', port(0), {
    text: 'Port of the chat completions API that the first start creates.',
    default: '3025',
  }),
};
