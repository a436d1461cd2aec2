import type { EngineEvent } from './engine.ts';

/** The notice about a tool server that the turn was to have and has not. `why` begins small and ends without a full stop. */
export const toolServerMissing = (toolServer: string, why: string): EngineEvent => ({
  type: 'notice',
  code: 'tool_server_missing',
  message: `Tool server ${toolServer} is not there: ${why}.`,
  toolServer,
});
