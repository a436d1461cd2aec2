import type { HandleResult } from '@svc/contract/turn.ts';
import type { ServiceError } from '@svc/service-kit/service-error.ts';
import { completionErrorBody } from './completion-error.ts';
import { toUsage, type ReplyHead } from './render-completion.ts';

/** The common fields of all parts of one response. */
export type ResponseHead = ReplyHead & { itemId: string; previousId: string | null };

/** A response in its present state: without a text it is in progress. */
export function toResponse(head: ResponseHead, text: string | null, usage?: HandleResult['usage']) {
  const { id, created, model, previousId } = head;
  return {
    id,
    object: 'response',
    created_at: created,
    status: text === null ? 'in_progress' : 'completed',
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model,
    output: text === null ? [] : [toItem(head, text)],
    parallel_tool_calls: true,
    previous_response_id: previousId,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    usage: text === null ? null : toResponseUsage(usage),
  };
}

const toPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });
const toItem = ({ itemId }: ResponseHead, text: string | null) => ({
  id: itemId,
  type: 'message',
  status: text === null ? 'in_progress' : 'completed',
  role: 'assistant',
  content: text === null ? [] : [toPart(text)],
});

function toResponseUsage(usage: HandleResult['usage']) {
  const { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details, ...more } = toUsage(usage);
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: prompt_tokens_details,
    output_tokens: completion_tokens,
    output_tokens_details: more.completion_tokens_details ?? { reasoning_tokens: 0 },
    total_tokens,
  };
}

/** The frames of a streamed response, in the order in which they must be sent. */
export type ResponseFrames = {
  begin(): string;
  text(delta: string): string;
  finish(text: string, usage: HandleResult['usage']): string;
  error(error: ServiceError): string;
};

export function createResponseFrames(head: ResponseHead): ResponseFrames {
  let sequence = 0;
  const frame = (type: string, fields: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...fields })}\n\n`;
  const place = { output_index: 0, item_id: head.itemId, content_index: 0 };

  return {
    begin: () =>
      frame('response.created', { response: toResponse(head, null) }) +
      frame('response.in_progress', { response: toResponse(head, null) }) +
      frame('response.output_item.added', { output_index: 0, item: toItem(head, null) }) +
      frame('response.content_part.added', { ...place, part: toPart('') }),
    text: (delta) => frame('response.output_text.delta', { ...place, delta, logprobs: [] }),
    finish: (text, usage) =>
      frame('response.output_text.done', { ...place, text, logprobs: [] }) +
      frame('response.content_part.done', { ...place, part: toPart(text) }) +
      frame('response.output_item.done', { output_index: 0, item: toItem(head, text) }) +
      frame('response.completed', { response: toResponse(head, text, usage) }),
    error(error) {
      const { error: body } = completionErrorBody(error);
      return frame('error', { ...body, type: 'error', error: body });
    },
  };
}
