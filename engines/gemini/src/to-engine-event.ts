import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import type { ModelUsage, TokenUsage } from '@svc/contract/usage.ts';
import { usageOfModels } from '@svc/engine-kit/usage.ts';
import type { GeminiMessage, GeminiStats, GeminiTokens } from './gemini-messages.ts';

/** Converts a line to events of the turn. The turn itself handles the session, usage and the end. */
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

/** Length of the part that is kept at each end of a name that is too long. */
const keptOfLong = 30;

/** The prefixes of a server's tool names in the program: the whole one, and that of a name whose middle was cut out. */
export function toolPrefixes(server: string): string[] {
  const name = server.startsWith('mcp_') ? server : `mcp_${server}`;
  const prefix = `${name.replaceAll(/[^\w\-.:]/g, '_')}_`;
  return prefix.length > keptOfLong ? [prefix, `${prefix.slice(0, keptOfLong)}...`] : [prefix];
}

/** Converts a server's tool name to the form of the other engines. */
function toolName(name: string, toolServers: readonly string[]): string {
  const [owner] = toolServers
    .flatMap((server) => toolPrefixes(server).map((prefix) => ({ server, prefix })))
    .filter(({ prefix }) => name.startsWith(prefix))
    .toSorted((a, b) => b.prefix.length - a.prefix.length);
  return owner === undefined ? name : `mcp__${owner.server}__${name.slice(owner.prefix.length)}`;
}

/** Tokens of one turn with the model `own`; null when it used none. */
export function toUsage(stats: GeminiStats, own: string | null): TokenUsage | null {
  const models = Object.entries(stats.models ?? {}).map(([model, tokens]) => ofModel(model, tokens));
  return usageOfModels(models, own) ?? usageOfModels([ofModel(own ?? '', stats)], own ?? '');
}

/** The program does not count thinking as output, but the vendor bills it. */
function ofModel(model: string, tokens: GeminiTokens): ModelUsage {
  const thinking = Math.max(0, tokens.total_tokens - tokens.input_tokens - tokens.output_tokens);
  return {
    model,
    input_tokens: Math.max(0, tokens.input_tokens - tokens.cached),
    output_tokens: tokens.output_tokens + thinking,
    cache_read_tokens: tokens.cached,
    cache_write_tokens: 0,
    ...(thinking > 0 && { thinking_tokens: thinking }),
    cost_usd: null,
  };
}
