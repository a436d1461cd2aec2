import { isChatModel, type ListedModel, readModelList } from '@svc/engine-kit/model-list.ts';
import { readBody } from '@svc/service-kit/http/read-body.ts';
import { http } from '@svc/service-kit/builtin.ts';

const timeoutMs = 3000;
const maxListBytes = 1024 * 1024;
/** Tokens needed by a turn with tools before any message, and by a short conversation. */
const promptTokens = 2000;
const neededTokens = 8192;

/** The chat models that an endpoint lists; none when it cannot be asked. `token`: null when no key is needed. */
export function endpointModels(url: string, token: string | null): Promise<ListedModel[]> {
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

/** For settings without a model: the endpoint does not know the vendor's default. */
export const endpointModel = async (url: string, token: string): Promise<string | null> =>
  (await endpointModels(url, token))[0]?.id ?? null;

/** A warning about the first model whose context is hardly enough for a conversation; null when none is known. */
export function smallContext(models: readonly ListedModel[]): string | null {
  const small = models.find(({ context }) => context !== null && context < neededTokens);
  if (small === undefined) return null;
  return `Its model ${small.id} has a context of ${small.context} tokens, and the instructions and tools of a turn use about ${promptTokens} of them. Load the model with a context of at least ${neededTokens}.`;
}

/** The chat models in the text of a list; none for any other response. */
export function parseModelList(text: string): ListedModel[] {
  try {
    return (readModelList(JSON.parse(text)) ?? []).filter(({ id }) => isChatModel(id));
  } catch {
    return []; // it is not JSON
  }
}
