import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import type { ModelUsage, TokenUsage } from '@svc/contract/usage.ts';
import { usageOfModels } from '@svc/engine-kit/usage.ts';
import type { ClaudeInit, ClaudeMessage, ClaudeResult, ContentBlock } from './claude-messages.ts';

/** Converts a message to events of the turn. The turn itself handles the session, usage and the end. */
export function toEngineEvents(message: ClaudeMessage): EngineEvent[] {
  switch (message.type) {
    case 'stream_event':
      return isMain(message) ? streamed(message.event) : [];
    case 'assistant':
      return isMain(message) && message.error === undefined ? message.message.content.flatMap(wholeBlock) : [];
    case 'user':
      return isMain(message) && typeof message.message.content !== 'string' ? message.message.content.flatMap(toolResult) : [];
    case 'rate_limit_event':
      return message.rate_limit_info.isUsingOverage ? [overageNotice] : [];
    case 'system':
      return message.subtype === 'api_retry' ? [retryNotice(message)] : [];
    default:
      return [];
  }
}

/** A sub-agent's messages are part of its tool call, not of the reply. */
const isMain = (message: { parent_tool_use_id: string | null }) => message.parent_tool_use_id === null;

function streamed(event: Extract<ClaudeMessage, { type: 'stream_event' }>['event']): EngineEvent[] {
  if (event.type !== 'content_block_delta') return [];
  if (event.delta.type === 'text_delta') return [{ type: 'delta', text: event.delta.text }];
  return event.delta.type === 'thinking_delta' ? [{ type: 'thinking', text: event.delta.thinking }] : [];
}

function wholeBlock(block: ContentBlock): EngineEvent[] {
  if (block.type === 'text') return block.text === '' ? [] : [{ type: 'segment', text: block.text }];
  return block.type === 'tool_use' ? [{ type: 'tool', id: block.id, name: block.name, input: block.input }] : [];
}

function toolResult(block: ContentBlock): EngineEvent[] {
  if (block.type !== 'tool_result') return [];
  return [{ type: 'tool_result', id: block.tool_use_id, ok: block.is_error !== true, output: resultText(block.content) }];
}

const resultText = (content: string | { type: string; text?: string }[] | undefined): string =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? `[${part.type}]`).join('\n');

const overageNotice: EngineEvent = {
  type: 'notice',
  code: 'other',
  message: 'The subscription is used up; this turn is billed as extra usage.',
};

const retryNotice = (message: Extract<ClaudeMessage, { subtype: 'api_retry' }>): EngineEvent => ({
  type: 'notice',
  code: 'retry',
  message: `Request ${message.attempt} of ${message.max_retries + 1} failed (${message.error_status ?? message.error}); trying again.`,
});

/** The servers that the program does not report as connected, with the state that it reports. */
export function missingServers(message: ClaudeInit, names: readonly string[]): { name: string; why: string }[] {
  const statuses = new Map(message.mcp_servers.map(({ name, status }) => [name, status]));
  return names
    .map((name) => ({ name, why: statuses.get(name) ?? 'unknown to the program' }))
    .filter(({ why }) => why !== 'connected');
}

/** Tokens and list-price value of a turn with the model `own`; null when it used nothing. */
export function toUsage(
  { usage, model_usage_since_last_result: byModel = {} }: ClaudeResult,
  own: string | null,
): TokenUsage | null {
  const models = Object.entries(byModel).map(([model, used]) => ({
    model,
    input_tokens: used.inputTokens,
    output_tokens: used.outputTokens,
    cache_read_tokens: used.cacheReadInputTokens,
    cache_write_tokens: used.cacheCreationInputTokens,
    ...(used.thinkingTokens !== undefined && { thinking_tokens: used.thinkingTokens }),
    cost_usd: used.costBasis === 'list' ? used.costUSD : null,
  }));
  return usageOfModels(models, own) ?? usageOfModels([ofMainModel(usage, own ?? '')], own ?? '');
}

/** Without sums by model: the usage of the turn's own model. */
const ofMainModel = (usage: ClaudeResult['usage'], own: string): ModelUsage => ({
  model: own,
  input_tokens: usage.input_tokens,
  output_tokens: usage.output_tokens,
  cache_read_tokens: usage.cache_read_input_tokens,
  cache_write_tokens: usage.cache_creation_input_tokens,
  ...(usage.cache_creation?.ephemeral_1h_input_tokens && {
    cache_write_1h_tokens: usage.cache_creation.ephemeral_1h_input_tokens,
  }),
  cost_usd: null,
});
