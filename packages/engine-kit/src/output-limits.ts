import type { ModelUsage, TokenCounts, TokenUsage } from '@svc/contract/usage.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import type { EngineEvent, EngineFailure } from './engine.ts';
import { isTerminal } from './guard-events.ts';

/** Limits of an engine's output in one turn, in characters. */
export type OutputLimits = {
  /** The reply. */
  reply: number;
  /** The input or the output of one tool call: it is cut when it is longer, and the turn continues. */
  tool: number;
  /** Everything together: reply, thinking, tool calls, tool results and notices. */
  turn: number;
};

/** Limits for an engine that is asked for a single line. */
export const sideOutput: OutputLimits = { reply: 20_000, tool: 0, turn: 1_000_000 };

/** An event within the limits, null when nothing of it is left; and the failure with which the turn ends because of it, if any. */
export type Metered = { event: EngineEvent | null; exceeded: EngineFailure | null };

export type OutputMeter = { take(event: EngineEvent): Metered };

/** Counted for each event besides its characters, so that empty events also reach the limit. */
const eventCost = 64;
const maxName = 256;
/** Number of models of one turn that are counted separately. */
const maxModels = 32;
const maxMessage = 4000;
/** Maximum plausible number of tokens, and of USD, of one turn. */
const maxCount = 1e12;
/** A longer session id could not be passed back to the engine. */
const maxSessionId = 1024;
/** More than is shown of a tool's text, so that a secret at the end of the shown part is complete when it is searched for. */
const toolMargin = 64 * 1024;

/** Enforces the limits on an engine's output in one turn: long parts are cut, and too much output ends the turn. */
export function createOutputMeter(limits: OutputLimits): OutputMeter {
  let replied = 0;
  let total = 0;
  let isBlockOpen = false;

  const countReply = (event: Extract<EngineEvent, { type: 'delta' | 'segment' }>): Metered => {
    // A segment repeats what was streamed as deltas.
    const isRepeated = event.type === 'segment' && isBlockOpen;
    isBlockOpen = event.type === 'delta';
    if (isRepeated) return { event, exceeded: null };
    const room = limits.reply - replied;
    replied += event.text.length;
    if (event.text.length <= room) return { event, exceeded: null };
    return { event: { ...event, text: cutText(event.text, room) }, exceeded: replyTooLong(limits.reply) };
  };

  return {
    take(event) {
      const { event: clipped, exceeded } =
        event.type === 'delta' || event.type === 'segment'
          ? countReply(event)
          : { event: clip(event, limits.tool), exceeded: null };
      if (isTerminal(event)) return { event: clipped, exceeded };
      total += eventCost + (clipped === null ? 0 : sizeOf(clipped));
      return { event: clipped, exceeded: exceeded ?? (total > limits.turn ? turnTooLarge(limits.turn) : null) };
    },
  };
}

/** Cuts an event's parts to what would be kept of them anyway. */
function clip(event: EngineEvent, toolLimit: number): EngineEvent | null {
  const max = toolLimit + toolMargin;
  switch (event.type) {
    case 'session':
      return event.engineSessionId.length > maxSessionId
        ? null
        : { ...event, model: event.model === null ? null : cutText(event.model, maxName) };
    case 'tool':
      return { ...event, id: cutText(event.id, maxName), name: cutText(event.name, maxName), input: clipInput(event.input, max) };
    case 'tool_result':
      return { ...event, id: cutText(event.id, maxName), output: cutText(event.output, max) };
    case 'notice':
      return { ...event, message: cutText(event.message, maxMessage) };
    case 'usage':
      return { ...event, usage: countable(event.usage) };
    case 'failed':
      return { ...event, failure: { ...event.failure, message: cutText(event.failure.message, maxMessage) } };
    default:
      return event;
  }
}

/** Leaves out values that are not counts, because counts are added up. */
const countable = (usage: TokenUsage): TokenUsage => ({
  ...counts(usage),
  estimated: usage.estimated,
  cost_usd: costOf(usage),
  ...(usage.by_model !== undefined && { by_model: parts(usage, usage.by_model) }),
});
/** More models than a turn can have are counted as one, with unknown price. */
const parts = (usage: TokenUsage, byModel: readonly ModelUsage[]): ModelUsage[] =>
  byModel.length > maxModels
    ? [{ model: 'many models', ...counts(usage), cost_usd: null }]
    : byModel.map((part) => ({ model: cutText(part.model, maxName), ...counts(part), cost_usd: costOf(part) }));
const counts = (usage: TokenCounts): TokenCounts => ({
  input_tokens: count(usage.input_tokens),
  output_tokens: count(usage.output_tokens),
  cache_read_tokens: count(usage.cache_read_tokens),
  cache_write_tokens: count(usage.cache_write_tokens),
  ...(usage.cache_write_1h_tokens !== undefined && { cache_write_1h_tokens: count(usage.cache_write_1h_tokens) }),
  ...(usage.thinking_tokens !== undefined && { thinking_tokens: count(usage.thinking_tokens) }),
});
const costOf = ({ cost_usd }: { cost_usd: number | null }): number | null => (isCount(cost_usd) ? cost_usd : null);
const count = (value: number): number => (isCount(value) ? Math.round(value) : 0);
const isCount = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= maxCount;

/** A small input unchanged; of a larger one the beginning of its JSON, without serializing all of it. */
function clipInput(input: unknown, max: number): unknown {
  const shortened = (_key: string, value: unknown) =>
    typeof value === 'string' && value.length > max ? value.slice(0, max) : value;
  try {
    const text = JSON.stringify(input, shortened) ?? 'null';
    return text.length <= max ? input : cutText(text, max);
  } catch {
    return '(an input that cannot be shown)'; // nested too deeply to be serialized
  }
}

function sizeOf(event: EngineEvent): number {
  if ('text' in event) return event.text.length;
  if (event.type === 'tool_result') return event.output.length;
  if (event.type === 'tool') return typeof event.input === 'string' ? event.input.length : jsonLength(event.input);
  return 0;
}

const jsonLength = (value: unknown): number => JSON.stringify(value)?.length ?? 0;

const replyTooLong = (max: number) =>
  tooLarge(`The reply is longer than ${max} characters. Ask for less at once, or raise SVC_MAX_REPLY_CHARS.`);

const turnTooLarge = (max: number) =>
  tooLarge(`The engine wrote more than ${max} characters in this turn. Ask for less at once, or raise SVC_MAX_TURN_CHARS.`);

/** For a program that wrote a line of more than `max` characters. */
export const lineTooLong = (max: number): EngineFailure =>
  tooLarge(
    `The engine's program wrote a line of more than ${max} characters. Ask for less at once, or raise SVC_MAX_ENGINE_LINE.`,
  );

/** For a program that wrote faster than its output can be processed. */
export const tooMuchWaits = tooLarge('The engine wrote faster than its output can be processed. Ask for less at once.');

function tooLarge(message: string): EngineFailure {
  return { code: 'engine_output_too_large', message, retryable: false };
}
