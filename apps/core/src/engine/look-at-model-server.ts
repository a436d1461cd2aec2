import { isRecord } from '@svc/contract/json-value.ts';
import { isChatModel, readModelList } from '@svc/engine-kit/model-list.ts';
import { openRequest, requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Secret } from '@svc/service-kit/secret.ts';

/** What answers at an address. `models`: to talk to, the one that is loaded first. `responses`: the status of that route; null when it gave none. */
export type ModelServerLook = {
  kind: string | null;
  models: string[];
  others: number;
  responses: number | null;
  /** What its common list said: as long as that is the same, so is most of the rest. */
  listed: string;
};

type Options = { timeoutMs: number; token?: Secret | null };
type Listed = { id: string; chat: boolean; loaded: boolean };

/** Anything may listen there. */
const maxBytes = 1024 * 1024;
const mostModels = 500;

/**
 * Looks at a model server; nothing it does costs a token. Null when nothing of the kind answers in time. `last`: what was seen before; with
 * the same list of models nothing more is asked.
 */
export async function lookAtModelServer(
  baseUrl: string,
  options: Options,
  last: ModelServerLook | null = null,
): Promise<ModelServerLook | null> {
  // Anything may listen there: what has no such list is asked nothing more.
  const models = await get(`${baseUrl}/models`, options);
  const common = fromCommon(models);
  if (common === null) return null;
  const listed = JSON.stringify(common);
  if (last?.listed === listed) return last;
  // Their own lists know more than the common one: which model is an embedding, which is loaded.
  const root = baseUrl.replace(/\/v1$/, '');
  const [ollama, studio] = await Promise.all([get(`${root}/api/tags`, options), get(`${root}/api/v0/models`, options)]);
  const known = fromOllama(ollama) ?? fromStudio(studio) ?? common;
  const chat = known.filter(({ id, chat: talks }) => talks && isChatModel(id));
  return {
    kind: fromOllama(ollama) !== null ? 'Ollama' : fromStudio(studio) !== null ? 'LM Studio' : ownerOf(models),
    models: chat.toSorted((a, b) => Number(b.loaded) - Number(a.loaded)).map(({ id }) => id),
    others: known.length - chat.length,
    responses: await statusOf(`${baseUrl}/responses`, options),
    listed,
  };
}

/** True when the route is there: an empty body is an error where it exists, and "no such route" where it does not. */
export const hasResponses = ({ responses }: Pick<ModelServerLook, 'responses'>): boolean =>
  responses !== null && responses !== 404 && responses !== 405 && responses !== 501;

async function get(url: string, { timeoutMs, token }: Options): Promise<unknown> {
  try {
    const { status, body } = await requestJson<unknown>(url, { timeoutMs, maxBytes, token });
    return status === 200 ? body : null;
  } catch {
    return null; // nothing listens there, or it is something else: a normal finding
  }
}

async function statusOf(url: string, { timeoutMs, token }: Options): Promise<number | null> {
  try {
    const answer = await openRequest(url, { method: 'POST', body: {}, timeoutMs, token });
    answer.destroy();
    return answer.statusCode ?? null;
  } catch {
    return null;
  }
}

/** Ollama's `/api/tags`: what is built on BERT makes vectors. */
function fromOllama(body: unknown): Listed[] | null {
  return listOf(body, 'models', (model) => {
    const details = isRecord(model['details']) ? model['details'] : {};
    const families = [details['family'], ...(Array.isArray(details['families']) ? details['families'] : [])].map(String);
    const able = Array.isArray(model['capabilities']) ? model['capabilities'].map(String) : null;
    const chat = able === null ? !families.some((family) => /bert/i.test(family)) : able.includes('completion');
    return { id: text(model['name']) ?? text(model['model']), chat, loaded: false };
  });
}

/** LM Studio's `/api/v0/models` says of each model what it is for. */
function fromStudio(body: unknown): Listed[] | null {
  const data = isRecord(body) && Array.isArray(body['data']) ? body['data'] : [];
  if (!data.some((model) => isRecord(model) && typeof model['type'] === 'string')) return null;
  return listOf(body, 'data', (model) => ({
    id: text(model['id']),
    chat: model['type'] === 'llm' || model['type'] === 'vlm',
    loaded: model['state'] === 'loaded',
  }));
}

const fromCommon = (body: unknown): Listed[] | null =>
  readModelList(body)?.flatMap(({ id }) => (text(id) === null ? [] : [{ id, chat: true, loaded: false }])) ?? null;

function listOf(
  body: unknown,
  field: string,
  toListed: (model: Record<string, unknown>) => Omit<Listed, 'id'> & { id: string | null },
): Listed[] | null {
  if (!isRecord(body) || !Array.isArray(body[field])) return null;
  return body[field]
    .slice(0, mostModels)
    .filter(isRecord)
    .map(toListed)
    .flatMap((model) => (model.id === null ? [] : [{ ...model, id: model.id }]));
}

function ownerOf(body: unknown): string | null {
  const data = isRecord(body) && Array.isArray(body['data']) ? body['data'] : [];
  const owner = isRecord(data[0]) ? data[0]['owned_by'] : null;
  return owner === 'vllm' ? 'vLLM' : owner === 'llamacpp' ? 'llama.cpp' : null;
}

/** Only what can be a model's id, so that it can be set as one and shown. */
const text = (value: unknown): string | null =>
  typeof value === 'string' && /^[A-Za-z0-9][\w./:@+-]{0,199}$/.test(value) ? value : null;
