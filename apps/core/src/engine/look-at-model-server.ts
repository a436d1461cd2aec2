import { isRecord } from '@svc/contract/json-value.ts';
import { isChatModel, readModelList } from '@svc/engine-kit/model-list.ts';
import { openRequest, requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Secret } from '@svc/service-kit/secret.ts';

/** The server at an address. `models`: its chat models, a loaded one first. `responses`: the status of the `/responses` route; null without an answer. */
export type ModelServerLook = {
  kind: string | null;
  models: string[];
  others: number;
  responses: number | null;
  /** The text of its common list: while that is unchanged, so is most of the rest. */
  listed: string;
};

type Options = { timeoutMs: number; token?: Secret | null };
type Listed = { id: string; chat: boolean; loaded: boolean };

/** Any program may listen there. */
const maxBytes = 1024 * 1024;
const mostModels = 500;

/**
 * Inspects a model server without spending tokens. Null when no model server answers in time. `last`: the previous result; with the same
 * list of models, no further requests are made.
 */
export async function lookAtModelServer(
  baseUrl: string,
  options: Options,
  last: ModelServerLook | null = null,
): Promise<ModelServerLook | null> {
  // Any program may listen there: one without such a list gets no further requests.
  const models = await get(`${baseUrl}/models`, options);
  const common = fromCommon(models);
  if (common === null) return null;
  const listed = JSON.stringify(common);
  if (last?.listed === listed) return last;
  // The servers' own lists say more than the common one: which models make embeddings, and which are loaded.
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

/** True when the route exists: an existing one answers an empty body with an error other than "no such route". */
export const hasResponses = ({ responses }: Pick<ModelServerLook, 'responses'>): boolean =>
  responses !== null && responses !== 404 && responses !== 405 && responses !== 501;

async function get(url: string, { timeoutMs, token }: Options): Promise<unknown> {
  try {
    const { status, body } = await requestJson<unknown>(url, { timeoutMs, maxBytes, token });
    return status === 200 ? body : null;
  } catch {
    return null; // nothing listens there, or another program: both are normal
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

/** Ollama's `/api/tags`: models of the BERT family make embeddings. */
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

/** Only text that is safe to show and to set as a model's id. */
const text = (value: unknown): string | null =>
  typeof value === 'string' && /^[A-Za-z0-9][\w./:@+-]{0,199}$/.test(value) ? value : null;
