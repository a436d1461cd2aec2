import { randomUUID } from 'node:crypto';
import { isRecord } from '@svc/contract/json-value.ts';
import { notOffered } from './messages-api.ts';
import { asBlocks, asText, contentText, findTool, type ModelRequest, type ParsedRequest } from './model-request.ts';
import { joinChunks, pacedChunks, type ScriptedStep, type ScriptedUsage, usageOf } from './scripted-reply.ts';
import type { SseStream } from './sse-stream.ts';

/** Reads the path and body of `POST /v1beta/models/<model>:<operation>`. */
export function parseGoogleRequest(path: string, body: Record<string, unknown>): ParsedRequest {
  const contents = asBlocks(body.contents);
  const newest = asBlocks(contents.findLast((content) => content.role === 'user')?.parts);
  const [, model = '', operation = ''] = /\/models\/([^/:]+):(\w+)$/.exec(path) ?? [];
  return {
    model,
    stream: operation.startsWith('stream'),
    userText: newestText(newest),
    systemText: isRecord(body.systemInstruction) ? contentText(body.systemInstruction.parts) : '',
    tools: asBlocks(body.tools)
      .flatMap((tool) => asBlocks(tool.functionDeclarations))
      .map((tool) => ({ name: asText(tool.name), kind: 'function' })),
    toolResults: newest.flatMap((part) => (isRecord(part.functionResponse) ? [resultText(part.functionResponse.response)] : [])),
    historyText: contents.map((content) => contentText(content.parts)).join('\n'),
  };
}

/**
 * The last text of the user: before it there may be the client's own text about the session, or an earlier message that
 * was never answered; after it, files that the client added.
 */
function newestText(parts: Record<string, unknown>[]): string {
  const texts = parts.map((part) => asText(part.text));
  return texts.findLast((text) => text !== '' && !/^(<session_context>|\n(---|Content from))/.test(text)) ?? '';
}

/** The result of a tool: its output or its error, or else everything that it sent. */
function resultText(response: unknown): string {
  const { output, error } = isRecord(response) ? response : {};
  return asText(output ?? error) || JSON.stringify(response);
}

type Reply = { steps: readonly ScriptedStep[]; usage?: Partial<ScriptedUsage> };
type Part = { text: string; thought?: true } | { functionCall: { id: string; name: string; args: Record<string, unknown> } };

/** Streams a scripted reply as `streamGenerateContent` does: candidates with one part each, the last one with the usage. */
export async function streamGoogle(out: SseStream, request: ModelRequest, reply: Reply, signal: AbortSignal): Promise<void> {
  for (const step of reply.steps) {
    for await (const part of toParts(step, request, signal)) out.data(chunk(request, [part]));
  }
  if (signal.aborted) return;
  out.data({ ...chunk(request, [{ text: '' }], 'STOP'), usageMetadata: wireUsage(usageOf(reply.usage)) });
  out.end();
}

/** The same reply in one piece, for `generateContent`. */
export const wholeGoogle = (request: ModelRequest, reply: Reply): object => ({
  ...chunk(
    request,
    reply.steps.map((step) => wholePart(step, request)),
    'STOP',
  ),
  usageMetadata: wireUsage(usageOf(reply.usage)),
});

/** The body of a refused request. */
export const googleError = (code: number, status: string, message: string, details: readonly object[] = []): object => ({
  error: { code, message, status, ...(details.length > 0 && { details }) },
});

async function* toParts(step: ScriptedStep, request: ModelRequest, signal: AbortSignal): AsyncGenerator<Part> {
  if ('text' in step) for await (const text of pacedChunks(step.text, signal)) yield { text };
  else if ('thinking' in step) for await (const text of pacedChunks(step.thinking, signal)) yield { text, thought: true };
  else yield wholePart(step, request);
}

function wholePart(step: ScriptedStep, request: ModelRequest): Part {
  if ('text' in step) return { text: joinChunks(step.text) };
  if ('thinking' in step) return { text: joinChunks(step.thinking), thought: true };
  const tool = findTool(request.tools, step.tool);
  if (tool === undefined) return { text: notOffered(request, String(step.tool)) };
  return { functionCall: { id: randomUUID(), name: tool.name, args: step.input } };
}

const chunk = (request: ModelRequest, parts: Part[], finishReason?: string) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason && { finishReason }) }],
  modelVersion: request.model,
  responseId: 'scripted',
});

/** This protocol counts cached tokens inside the prompt, and thinking apart from the reply. */
const wireUsage = (usage: ScriptedUsage) => {
  const prompt = usage.input + usage.cacheRead;
  return {
    promptTokenCount: prompt,
    cachedContentTokenCount: usage.cacheRead,
    candidatesTokenCount: usage.output,
    thoughtsTokenCount: usage.reasoning,
    totalTokenCount: prompt + usage.output + usage.reasoning,
  };
};
