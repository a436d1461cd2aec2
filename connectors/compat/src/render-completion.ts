import { textOf, type HandleResult } from '@svc/contract/turn.ts';
import type { TokenUsage } from '@svc/contract/usage.ts';
import { jsonText, type ReplyFormat } from './reply-format.ts';
import { cutAtStop } from './stop-text.ts';

/** The common fields of all parts of one reply. `created` is in seconds, as the protocol requires. */
export type ReplyHead = { id: string; created: number; model: string };

/** The requested form of the reply's text. */
export type ReplyShape = { stops: readonly string[]; format: ReplyFormat | null };

/** The reply's text in the requested form. The format applies only to what the assistant says: the answer to a command is not JSON. */
export function shapedReply(
  { actions, outcome }: Pick<HandleResult, 'actions' | 'outcome'>,
  { stops, format }: ReplyShape,
): string {
  const text = textOf(actions);
  return cutAtStop(format === null || outcome !== 'replied' ? text : jsonText(text, format), stops);
}

/** The whole reply to a request without streaming. Serialized by hand, because only the text in it can be long. */
export function renderCompletion({ id, created, model }: ReplyHead, result: HandleResult, text: string): string {
  const message = `{"role":"assistant","content":${JSON.stringify(text)},"refusal":null}`;
  const choice = `{"index":0,"message":${message},"logprobs":null,"finish_reason":"stop"}`;
  const head = `{"id":${JSON.stringify(id)},"object":"chat.completion","created":${created},"model":${JSON.stringify(model)}`;
  return `${head},"choices":[${choice}],"usage":${JSON.stringify(toUsage(result.usage))}}`;
}

/** Renders the frames of a streamed reply. */
export type ChunkRenderer = {
  role(): string;
  text(delta: string): string;
  finish(): string;
  usage(usage: TokenUsage | undefined): string;
};

/** The common part of all frames is built only once. */
export function createChunkRenderer({ id, created, model }: ReplyHead): ChunkRenderer {
  const head = `data: {"id":${JSON.stringify(id)},"object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)},"choices":[`;
  const text = `${head}{"index":0,"delta":{"content":`;
  const textEnd = '},"finish_reason":null}]}\n\n';
  return {
    role: () => `${head}{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n`,
    text: (delta) => text + JSON.stringify(delta) + textEnd,
    finish: () => `${head}{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`,
    usage: (usage) => `${head}],"usage":${JSON.stringify(toUsage(usage))}}\n\n`,
  };
}

/** The last frame of every stream, whatever came before. */
export const doneFrame = 'data: [DONE]\n\n';

export function toUsage(usage: TokenUsage | undefined) {
  const cached = usage?.cache_read_tokens ?? 0;
  const prompt = (usage?.input_tokens ?? 0) + cached + (usage?.cache_write_tokens ?? 0);
  const completion = usage?.output_tokens ?? 0;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
    ...(usage?.thinking_tokens === undefined ? {} : { completion_tokens_details: { reasoning_tokens: usage.thinking_tokens } }),
  };
}
