import type { EngineEvent } from './engine.ts';

/** What is said of a tool server that is missing. `why` begins small and ends without a full stop. */
export const missingText = (toolServer: string, why: string): string => `Tool server ${toolServer} is not there: ${why}.`;

/** The notice about a tool server that the turn was to have and has not. */
export const toolServerMissing = (toolServer: string, why: string): EngineEvent => ({
  type: 'notice',
  code: 'tool_server_missing',
  message: missingText(toolServer, why),
  toolServer,
});
