import { randomUUID } from 'node:crypto';
import { notOffered } from './messages-api.ts';
import { findTool, type ModelRequest } from './model-request.ts';
import { joinChunks, pacedChunks, usageOf, type Chunks, type ScriptedStep, type ScriptedUsage } from './scripted-reply.ts';
import type { SseStream } from './sse-stream.ts';

type Reply = { steps: readonly ScriptedStep[]; usage?: Partial<ScriptedUsage> };
type Item = { id: string; type: string; [field: string]: unknown };

/** Streams a scripted reply as the Responses protocol does: output items, each added, filled by deltas and done. */
export async function streamResponse(out: SseStream, request: ModelRequest, reply: Reply, signal: AbortSignal): Promise<void> {
  const id = `resp_${randomUUID()}`;
  const output: Item[] = [];
  let sequence = 0;
  const numbered: SseStream = {
    event: (type, fields) => out.event(type, { sequence_number: sequence++, ...fields }),
    data: out.data,
    end: out.end,
  };
  numbered.event('response.created', { response: envelope(id, request, 'in_progress', []) });
  for (const [index, step] of reply.steps.entries()) {
    if (signal.aborted) return;
    const item = toItem(step, request);
    await streamItem(numbered, index, item, step, signal);
    output.push(item);
  }
  if (signal.aborted) return;
  const usage = wireUsage(usageOf(reply.usage));
  numbered.event('response.completed', { response: { ...envelope(id, request, 'completed', output), usage } });
  out.end();
}

/** The same reply in one piece, for requests without `stream`. */
export const wholeResponse = (request: ModelRequest, reply: Reply): object => ({
  ...envelope(
    `resp_${randomUUID()}`,
    request,
    'completed',
    reply.steps.map((step) => toItem(step, request)),
  ),
  usage: wireUsage(usageOf(reply.usage)),
});

async function streamItem(out: SseStream, index: number, item: Item, step: ScriptedStep, signal: AbortSignal) {
  out.event('response.output_item.added', { output_index: index, item: { ...item, content: [], summary: [] } });
  if ('thinking' in step) await streamSummary(out, index, item, step.thinking, signal);
  else if (item.type === 'message') await streamText(out, index, item, 'text' in step ? step.text : itemText(item), signal);
  if (!signal.aborted) out.event('response.output_item.done', { output_index: index, item });
}

async function streamText(out: SseStream, index: number, item: Item, chunks: Chunks, signal: AbortSignal) {
  for await (const delta of pacedChunks(chunks, signal)) {
    out.event('response.output_text.delta', { item_id: item.id, output_index: index, content_index: 0, delta });
  }
}

async function streamSummary(out: SseStream, index: number, item: Item, chunks: Chunks, signal: AbortSignal) {
  const place = { item_id: item.id, output_index: index, summary_index: 0 };
  out.event('response.reasoning_summary_part.added', { ...place, part: { type: 'summary_text', text: '' } });
  for await (const delta of pacedChunks(chunks, signal)) out.event('response.reasoning_summary_text.delta', { ...place, delta });
}

function toItem(step: ScriptedStep, request: ModelRequest): Item {
  if ('text' in step) return messageItem(joinChunks(step.text));
  if ('thinking' in step) {
    const summary = [{ type: 'summary_text', text: joinChunks(step.thinking) }];
    return { type: 'reasoning', id: `rs_${randomUUID()}`, summary, content: [], encrypted_content: null };
  }
  const tool = findTool(request.tools, step.tool);
  if (tool === undefined) return messageItem(notOffered(request, String(step.tool)));
  const id = randomUUID();
  const call = { id: `fc_${id}`, call_id: `call_${id}`, name: tool.name, status: 'completed' };
  const place = tool.namespace === undefined ? {} : { namespace: tool.namespace };
  if (tool.kind === 'custom') return { type: 'custom_tool_call', ...call, ...place, input: String(step.input.input ?? '') };
  return { type: 'function_call', ...call, ...place, arguments: JSON.stringify(step.input) };
}

const messageItem = (text: string): Item => ({
  type: 'message',
  id: `msg_${randomUUID()}`,
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
});

const itemText = (item: Item): string => (item.content as { text: string }[]).map((part) => part.text).join('');

const envelope = (id: string, request: ModelRequest, status: string, output: Item[]) => ({
  id,
  object: 'response',
  created_at: 1,
  status,
  model: request.model,
  output,
});

/** This protocol counts cached tokens inside the input. */
const wireUsage = (usage: ScriptedUsage) => {
  const input = usage.input + usage.cacheRead;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
  };
};
