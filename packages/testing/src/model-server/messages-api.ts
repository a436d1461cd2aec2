import { randomUUID } from 'node:crypto';
import { asBlocks, asText, contentText, findTool, type ModelRequest, type ParsedRequest } from './model-request.ts';
import { joinChunks, pacedChunks, type ScriptedStep, type ScriptedUsage, usageOf } from './scripted-reply.ts';
import type { SseStream } from './sse-stream.ts';

/** Reads the body of `POST /v1/messages`. */
export function parseMessagesRequest(body: Record<string, unknown>): ParsedRequest {
  const messages = asBlocks(body.messages);
  const newest = messages.findLast((message) => message.role === 'user')?.content;
  return {
    model: asText(body.model),
    stream: body.stream === true,
    userText: newestText(newest),
    systemText: contentText(body.system),
    tools: asBlocks(body.tools).map((tool) => ({ name: asText(tool.name), kind: asText(tool.type) || 'custom' })),
    toolResults: asBlocks(newest)
      .filter((block) => block.type === 'tool_result')
      .map((block) => contentText(block.content)),
    historyText: messages.map((message) => contentText(message.content)).join('\n'),
  };
}

/** The last text of a message: before it there may be an earlier message that was never answered, after it reminders of the client. */
function newestText(content: unknown): string {
  const texts = typeof content === 'string' ? [content] : asBlocks(content).map((block) => asText(block.text));
  return texts.findLast((text) => text !== '' && !text.startsWith('<system-reminder>')) ?? '';
}

type Block =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> };

/** Streams a scripted reply as the Messages protocol does: a message of blocks, each with its deltas. */
export async function streamMessage(
  out: SseStream,
  request: ModelRequest,
  reply: { steps: readonly ScriptedStep[]; usage?: Partial<ScriptedUsage> },
  signal: AbortSignal,
): Promise<void> {
  const usage = usageOf(reply.usage);
  out.event('message_start', { message: { ...envelope(request), content: [], stop_reason: null, usage: wireUsage(usage, 1) } });
  let stopReason = 'end_turn';
  for (const [index, step] of reply.steps.entries()) {
    if (signal.aborted) return;
    const block = toBlock(step, request);
    if (block.type === 'tool_use') stopReason = 'tool_use';
    await streamBlock(out, index, block, step, signal);
  }
  if (signal.aborted) return;
  out.event('message_delta', {
    delta: { stop_reason: stopReason, stop_sequence: null },
    usage: { output_tokens: usage.output },
  });
  out.event('message_stop', {});
  out.end();
}

/** The same reply in one piece, for requests without `stream`. */
export function wholeMessage(
  request: ModelRequest,
  reply: { steps: readonly ScriptedStep[]; usage?: Partial<ScriptedUsage> },
): object {
  const content = reply.steps.map((step) => toBlock(step, request));
  const usesTool = content.some((block) => block.type === 'tool_use');
  const usage = usageOf(reply.usage);
  return {
    ...envelope(request),
    content,
    stop_reason: usesTool ? 'tool_use' : 'end_turn',
    usage: wireUsage(usage, usage.output),
  };
}

async function streamBlock(out: SseStream, index: number, block: Block, step: ScriptedStep, signal: AbortSignal) {
  out.event('content_block_start', { index, content_block: emptied(block) });
  const delta = (fields: object) => out.event('content_block_delta', { index, delta: fields });
  if ('thinking' in step) {
    for await (const thinking of pacedChunks(step.thinking, signal)) delta({ type: 'thinking_delta', thinking });
    delta({ type: 'signature_delta', signature: 'c2ln' });
  } else if (block.type === 'tool_use') {
    delta({ type: 'input_json_delta', partial_json: JSON.stringify(block.input) });
  } else if ('text' in step) {
    for await (const text of pacedChunks(step.text, signal)) delta({ type: 'text_delta', text });
  } else if (block.type === 'text') {
    delta({ type: 'text_delta', text: block.text });
  }
  if (!signal.aborted) out.event('content_block_stop', { index });
}

function toBlock(step: ScriptedStep, request: ModelRequest): Block {
  if ('text' in step) return { type: 'text', text: joinChunks(step.text) };
  if ('thinking' in step) return { type: 'thinking', thinking: joinChunks(step.thinking), signature: 'c2ln' };
  const tool = findTool(request.tools, step.tool);
  if (tool === undefined) return { type: 'text', text: notOffered(request, String(step.tool)) };
  return { type: 'tool_use', id: `toolu_${randomUUID()}`, name: tool.name, input: step.input };
}

const emptied = (block: Block): Block => {
  if (block.type === 'text') return { type: 'text', text: '' };
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  return { ...block, input: {} };
};

export const notOffered = (request: ModelRequest, wanted: string): string =>
  `No tool like ${wanted} is offered; offered: ${request.tools.map((tool) => tool.name).join(', ') || 'none'}.`;

const envelope = (request: ModelRequest) => ({
  id: `msg_${randomUUID()}`,
  type: 'message',
  role: 'assistant',
  model: request.model,
  stop_sequence: null,
});

const wireUsage = (usage: ScriptedUsage, output: number) => ({
  input_tokens: usage.input,
  cache_creation_input_tokens: usage.cacheWrite,
  cache_read_input_tokens: usage.cacheRead,
  output_tokens: output,
});
