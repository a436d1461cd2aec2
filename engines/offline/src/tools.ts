import type { EngineRequest } from '@svc/engine-kit/engine.ts';

/** One harmless tool, so that a machine without a model can still show what a tool call looks like. */
const clock = 'clock';

/** Names of the tools of a turn. Who may only talk has none. */
export const toolNames = (request: Pick<EngineRequest, 'toolPolicy'>): string[] => (request.toolPolicy === 'none' ? [] : [clock]);

export function callTool(name: string, input: unknown): { ok: boolean; output: string } {
  if (name !== clock) return { ok: false, output: `no tool ${name}` };
  const zone = (input as { timeZone?: unknown } | null)?.timeZone;
  try {
    return { ok: true, output: new Date().toLocaleString('en-GB', { timeZone: typeof zone === 'string' ? zone : undefined }) };
  } catch (error) {
    return { ok: false, output: (error as Error).message };
  }
}
