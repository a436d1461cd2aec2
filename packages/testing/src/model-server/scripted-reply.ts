import type { Gate } from './gate.ts';
import type { ModelRequest, OfferedTool } from './model-request.ts';

/** Text that is sent in these pieces; a gate between two pieces delays the rest. */
export type Chunks = string | readonly (string | Gate)[];

/**
 * One block of a reply. `tool` is an offered tool found by pattern (when none matches, the reply is a text that lists what
 * was offered), or a tool the model calls whether it was offered or not, as models do.
 */
export type ScriptedStep =
  | { text: Chunks }
  | { thinking: Chunks }
  | { tool: RegExp | string | OfferedTool; input: Record<string, unknown> };

export type ScriptedUsage = { input: number; cacheRead: number; cacheWrite: number; output: number; reasoning: number };

export type ScriptedReply =
  | { steps: readonly ScriptedStep[]; usage?: Partial<ScriptedUsage> }
  /**
   * An error instead of a reply: HTTP status, the vendor's error type and message; `details` where Google has them, other
   * `fields` of the error for the other protocols.
   */
  | {
      status: number;
      kind: string;
      message: string;
      headers?: Record<string, string>;
      details?: readonly object[];
      fields?: Record<string, unknown>;
    };

/** Chooses the reply to a request; `undefined` leaves it to the default scenarios. */
export type Script = (request: ModelRequest) => ScriptedReply | undefined;

/** The token counts of a reply, unless the script sets others. Input excludes the cached part. */
export const defaultUsage: ScriptedUsage = { input: 111, cacheRead: 33, cacheWrite: 22, output: 17, reasoning: 5 };

export const usageOf = (usage: Partial<ScriptedUsage> | undefined): ScriptedUsage => ({ ...defaultUsage, ...usage });

export const joinChunks = (chunks: Chunks): string =>
  typeof chunks === 'string' ? chunks : chunks.filter((chunk) => typeof chunk === 'string').join('');

/** Yields the pieces in order and waits at each gate until it opens or the client is gone. */
export async function* pacedChunks(chunks: Chunks, signal: AbortSignal): AsyncGenerator<string> {
  for (const chunk of typeof chunks === 'string' ? [chunks] : chunks) {
    if (signal.aborted) return;
    if (typeof chunk === 'string') yield chunk;
    else await chunk.wait(signal);
  }
}
