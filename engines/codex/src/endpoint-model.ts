import { isChatModel } from '@svc/engine-kit/chat-model.ts';
import { readBody } from '@svc/service-kit/http/read-body.ts';
import { http } from '@svc/service-kit/builtin.ts';

const timeoutMs = 3000;
const maxListBytes = 1024 * 1024;
/** What a turn with tools takes before anybody has said a word, and what a short conversation takes, in tokens. */
const promptTokens = 2000;
const neededTokens = 8192;

/** `context` in tokens, where the endpoint says it. */
export type EndpointModel = { id: string; context: number | null };

/** The models to talk to that an endpoint lists; none when it cannot be asked. `token` stays null where no key is needed. */
export function endpointModels(url: string, token: string | null): Promise<EndpointModel[]> {
  const client = url.startsWith('https:') ? process.getBuiltinModule('node:https') : http;
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve) => {
    const call = client.get(`${url}/models`, { headers, signal: AbortSignal.timeout(timeoutMs) }, (answer) => {
      readBody(answer, maxListBytes).then(
        (raw) => resolve(parseModelList(raw.toString('utf8'))),
        () => resolve([]),
      );
    });
    call.on('error', () => resolve([]));
  });
}

/** For settings that name no model: the vendor's default is unknown there. */
export const endpointModel = async (url: string, token: string): Promise<string | null> =>
  (await endpointModels(url, token))[0]?.id ?? null;

/** A warning about models that a conversation hardly fits into; null when nothing is known of such. */
export function smallContext(models: readonly EndpointModel[]): string | null {
  const small = models.find(({ context }) => context !== null && context < neededTokens);
  if (small === undefined) return null;
  return `Its model ${small.id} takes ${small.context} tokens: the instructions and tools of a turn take about ${promptTokens} of them, so give it at least ${neededTokens}.`;
}

/** Reads the list in the forms of the usual servers. */
export function parseModelList(text: string): EndpointModel[] {
  try {
    const list = JSON.parse(text) as { data?: unknown } | null;
    const models = Array.isArray(list?.data) ? list.data : [];
    return models.flatMap((model: Record<string, unknown> | null) =>
      typeof model?.id === 'string' && isChatModel(model.id) ? [{ id: model.id, context: contextOf(model) }] : [],
    );
  } catch {
    return []; // it is some other server
  }
}

/** vLLM, OpenRouter, LM Studio and llama-server each have a name of their own for it. */
function contextOf(model: Record<string, unknown>): number | null {
  const meta = (model.meta ?? {}) as Record<string, unknown>;
  const values = [model.loaded_context_length, model.max_model_len, model.context_length, model.context_window, meta.n_ctx];
  return values.find((value): value is number => typeof value === 'number' && value > 0) ?? null;
}
