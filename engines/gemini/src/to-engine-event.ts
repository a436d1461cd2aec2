import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import type { GeminiMessage } from './gemini-messages.ts';

/** What a line means to the turn's listener. The session, usage and the end of the turn are the turn's own business. */
export function toEngineEvents(message: GeminiMessage, toolServers: readonly string[]): EngineEvent[] {
  switch (message.type) {
    case 'message':
      return message.role === 'assistant' && message.content.length > 0 ? [{ type: 'delta', text: message.content }] : [];
    case 'tool_use':
      return [{ type: 'tool', id: message.tool_id, name: toolName(message.tool_name, toolServers), input: message.parameters }];
    case 'tool_result':
      return [
        {
          type: 'tool_result',
          id: message.tool_id,
          ok: message.status === 'success',
          output: message.output ?? message.error?.message ?? '',
        },
      ];
    case 'error':
      return message.severity === 'warning' ? [{ type: 'notice', code: 'other', message: message.message }] : [];
    default:
      return [];
  }
}

/** The beginning of the names that the program gives to a server's tools. */
export const toolPrefix = (server: string): string => `mcp_${server.replaceAll(/[^\w\-.:]/g, '_')}_`;

/** A server's tool as the other engines name it. */
function toolName(name: string, toolServers: readonly string[]): string {
  const owner = toolServers
    .filter((server) => name.startsWith(toolPrefix(server)))
    .toSorted((a, b) => b.length - a.length)
    .at(0);
  return owner === undefined ? name : `mcp__${owner}__${name.slice(toolPrefix(owner).length)}`;
}
