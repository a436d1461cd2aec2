import type { ToolAnswer, ToolName } from '@svc/contract/toolbelt.ts';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Secret } from '@svc/service-kit/secret.ts';

/** What a tool call came to, as text for the model. */
export type Forwarded = { ok: boolean; text: string };

export type ToolCall = { tool: ToolName; input: unknown; token: Secret; signal: AbortSignal };
export type ForwardCall = (call: ToolCall) => Promise<Forwarded>;

/** A send waits up to ten seconds for its first try. */
const timeoutMs = 30_000;

/** Hands tool calls to the core, which knows whose turn the token belongs to and decides. Never throws. */
export const createForwardCall =
  (coreUrl: string): ForwardCall =>
  async ({ tool, input, token, signal }) => {
    const url = `${coreUrl}/v2/toolbelt/${tool}`;
    try {
      const { body } = await requestJson<ToolAnswer | ErrorBody>(url, { body: input, token, signal, timeoutMs });
      return body.ok ? { ok: true, text: JSON.stringify(body.result) } : { ok: false, text: body.message };
    } catch {
      return { ok: false, text: 'The service could not be reached just now. Try again in a moment.' };
    }
  };
