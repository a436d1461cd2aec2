import type { ToolOutcome } from '@svc/engine-kit/tool-client/messages.ts';

/** One harmless tool, so that a machine without a tool server can still show what a tool call looks like. */
export const clockName = 'clock';

/** The time, in the zone that the input names. */
export function readClock(input: unknown): ToolOutcome {
  const zone = (input as { timeZone?: unknown } | null)?.timeZone;
  try {
    return { ok: true, output: new Date().toLocaleString('en-GB', { timeZone: typeof zone === 'string' ? zone : undefined }) };
  } catch (error) {
    return { ok: false, output: (error as Error).message };
  }
}
