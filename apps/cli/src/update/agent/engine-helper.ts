import { userName } from '@svc/service-kit/user-name.ts';
import type { EngineChoice } from '@svc/contract/service.ts';
import type { Identity } from '@svc/contract/trust.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { createChatSession } from '../../chat/chat-session.ts';

/** Asks the engine in use for help, as the person at this shell. */
export type EngineHelper = {
  /** Why it cannot be asked; null when it can. */
  whyNot(): Promise<string | null>;
  /** Requests a short answer. Returns why there was none; null when it answered. */
  begin(): Promise<string | null>;
  /** Runs one turn in the folder, at most `timeoutMs`. Returns why it failed; null when it succeeded. */
  ask(prompt: string, folder: string, timeoutMs: number): Promise<string | null>;
  /** Removes everything that was stored for the folder. */
  close(): Promise<void>;
};

const askMs = 20_000;
const greetingMs = 3 * 60_000;
const greeting =
  'An update of the Assistant Gateway, the service that runs you, could not be installed, and you are about to be asked to repair it. Answer with one word now: ready.';

export function createEngineHelper(coreUrl: string, id: string): EngineHelper {
  const user = userName();
  const conversationKey = `shell:self-update-${id}`;
  const session = createChatSession({ coreUrl, user, conversationKey });
  const workIn = (cwd: string | null) =>
    requestJson<{ message?: string }>(`${coreUrl}/v2/session/${encodeURIComponent(conversationKey)}`, {
      method: 'PATCH',
      body: { cwd, ...(cwd !== null && { for: 'full' }) },
      timeoutMs: askMs,
    });
  /** Why the turn failed; null when it succeeded. */
  const say = async (text: string, timeoutMs: number): Promise<string | null> => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      void session.stop().catch(() => session.leave());
    }, timeoutMs);
    try {
      const end = await session.run({ text });
      if (isLate) return `it did not end within ${Math.max(1, Math.round(timeoutMs / 60_000))} minutes`;
      if (end.type === 'error') return end.error.message;
      const { outcome } = end.result;
      return outcome === 'replied' || outcome === 'silent' ? null : `its turn ended as ${outcome}`;
    } catch (error) {
      return errorText(error);
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    async whyNot() {
      try {
        return (await whyNoEngine(coreUrl)) ?? (await whyNotAllowed(coreUrl, user));
      } catch (error) {
        return `the core does not answer (${errorText(error)}); start the service first`;
      }
    },

    // Only an existing conversation can have a folder. This also finds an engine that does not answer before anything is prepared for it.
    begin: () => say(greeting, greetingMs),

    async ask(prompt, folder, timeoutMs) {
      const { status, body } = await workIn(folder);
      if (status !== 200) return `it cannot work in ${folder}: ${body.message ?? `the core answered ${status}`}`;
      return say(prompt, timeoutMs);
    },

    async close() {
      await workIn(null).catch(() => undefined); // the folder is gone soon, which says the same
    },
  };
}

async function whyNoEngine(coreUrl: string): Promise<string | null> {
  const { body } = await requestJson<{ current: EngineChoice }>(`${coreUrl}/v2/engines`, { timeoutMs: askMs });
  if (body.current.id !== 'offline') return null;
  return 'the engine in use is "offline", which is not a model; connect one first (docs/engines.md)';
}

/** It changes files, so it needs every right, and nobody is present to answer questions. */
async function whyNotAllowed(coreUrl: string, user: string): Promise<string | null> {
  const request = { channel: 'shell', sender: { raw_id: user } };
  const { body } = await requestJson<Identity>(`${coreUrl}/trust/resolve`, { body: request, timeoutMs: askMs });
  if (body.denied || body.trust_tier !== 'SACRED' || body.tool_policy !== 'full')
    return `${user} at this shell is not the owner with every tool (tier ${body.trust_tier}, tools: ${body.tool_policy})`;
  return body.asks === 'never' ? null : 'the owner is asked before tools are used, and nobody is there to answer';
}
