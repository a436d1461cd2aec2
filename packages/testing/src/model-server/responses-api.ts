import { randomUUID } from 'node:crypto';
import { notOffered } from './messages-api.ts';
import {
  asBlocks,
  asText,
  contentText,
  findTool,
  type ModelRequest,
  type ParsedRequest,
  type OfferedTool,
} from './model-request.ts';
import { type Chunks, joinChunks, pacedChunks, type ScriptedStep, type ScriptedUsage, usageOf } from './scripted-reply.ts';
import type { SseStream } from './sse-stream.ts';

type InputItem = Record<string, unknown>;

/** Reads the body of `POST /v1/responses`. */
export function parseResponsesRequest(body: Record<string, unknown>): ParsedRequest {
  const items = typeof body.input === 'string' ? [{ type: 'message', role: 'user', content: body.input }] : asBlocks(body.input);
  const developer = items.filter((item) => item.role === 'developer' || item.role === 'system');
  return {
    model: asText(body.model),
    stream: body.stream === true,
    userText: contentText(items.findLast((item) => item.role === 'user')?.content),
    systemText: [asText(body.instructions), ...developer.map((item) => contentText(item.content))].join('\n'),
    // Newer models get their tools as an item of the input.
    tools: [
      ...asBlocks(body.tools),
      ...items.flatMap((item) => (item.type === 'additional_tools' ? asBlocks(item.tools) : [])),
    ].flatMap(toOfferedTools),
    toolResults: newestResults(items),
    historyText: items.map((item) => contentText(item.content)).join('\n'),
  };
}

/** The outputs at the end of the input: the tool results since the model's last reply. */
function newestResults(items: InputItem[]): string[] {
  const lastOther = items.findLastIndex((item) => !isOutput(item));
  return items.slice(lastOther + 1).map((item) => (typeof item.output === 'string' ? item.output : contentText(item.output)));
}

const isOutput = (item: InputItem) => item.type === 'function_call_output' || item.type === 'custom_tool_call_output';

function toOfferedTools(tool: InputItem): OfferedTool[] {
  const kind = asText(tool.type);
  if (kind === 'namespace') {
    return asBlocks(tool.tools).map((inner) => ({ name: asText(inner.name), namespace: asText(tool.name), kind: 'function' }));
  }
  return [{ name: asText(tool.name) || kind, kind }];
}

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
