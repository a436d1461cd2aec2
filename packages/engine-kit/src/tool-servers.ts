import type { EngineEvent, EngineRequest, ToolServer } from './engine.ts';

/** The tool servers this turn may use: none for talk, those marked safe for reading, all for everything. */
export function allowedToolServers({ toolPolicy, toolServers }: Pick<EngineRequest, 'toolPolicy' | 'toolServers'>): ToolServer[] {
  if (toolPolicy === 'none') return [];
  return toolPolicy === 'read' ? toolServers.filter((server) => server.safe) : toolServers;
}

/** What is said of a tool server that is missing. `why` begins small and ends without a full stop. */
export const missingText = (toolServer: string, why: string): string => `Tool server ${toolServer} is not available: ${why}.`;

/** The notice about a tool server that the turn was to have and has not. */
export const toolServerMissing = (toolServer: string, why: string): EngineEvent => ({
  type: 'notice',
  code: 'tool_server_missing',
  message: missingText(toolServer, why),
  toolServer,
});
