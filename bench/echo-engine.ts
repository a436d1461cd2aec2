import type { EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';

/** A script of the offline engine: says the message in one piece, and once more as a tool's output. */
export async function* respond({ text }: EngineRequest): AsyncGenerator<EngineEvent> {
  yield { type: 'tool', id: 'call_1', name: 'read', input: { path: text } };
  yield { type: 'tool_result', id: 'call_1', ok: true, output: text };
  yield { type: 'delta', text };
  yield { type: 'segment', text };
}
