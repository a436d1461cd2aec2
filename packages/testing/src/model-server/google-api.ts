import { randomUUID } from 'node:crypto';
import { notOffered } from './messages-api.ts';
import { findTool, type ModelRequest } from './model-request.ts';
import { joinChunks, pacedChunks, usageOf, type ScriptedStep, type ScriptedUsage } from './scripted-reply.ts';
import type { SseStream } from './sse-stream.ts';

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
