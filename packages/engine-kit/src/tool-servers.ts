import type { EngineEvent, EngineRequest, ToolServer } from './engine.ts';

/** The tool servers that a turn may use: none for `none`, the safe ones for `read`, all for `full`. */
export function allowedToolServers({ toolPolicy, toolServers }: Pick<EngineRequest, 'toolPolicy' | 'toolServers'>): ToolServer[] {
  if (toolPolicy === 'none') return [];
  return toolPolicy === 'read' ? toolServers.filter((server) => server.safe) : toolServers;
}

/** The message about a missing tool server. `why` begins in lower case and has no full stop. */
export const missingText = (toolServer: string, why: string): string => `Tool server ${toolServer} is not available: ${why}.`;

/** The notice about a missing tool server of the turn. */
export const toolServerMissing = (toolServer: string, why: string): EngineEvent => ({
  type: 'notice',
  code: 'tool_server_missing',
  message: missingText(toolServer, why),
  toolServer,
});
