import { isRecord } from '@svc/contract/json-value.ts';

/** Names of models that turn text into vectors, rank, transcribe, speak or draw: they cannot hold a conversation. */
const otherWork =
  /embed|minilm|whisper|rerank|dall-e|stable-diffusion|parakeet|moderation|(?:^|[-_/.:])(?:bge|e5|gte|tts|stt|asr|kokoro|piper|flux|clip|bert|sam\d?)(?:$|[-_/.:\d])/i;

/** Whether a model, by its name alone, may be one to talk to. */
export const isChatModel = (id: string): boolean => !otherWork.test(id);

/** A model that a server lists. `context` in tokens, where the server says it. */
export type ListedModel = { id: string; context: number | null };

const mostModels = 500;

/** Reads the body of `GET /v1/models` in the forms of the usual servers. Null when it is no such list. */
export function readModelList(body: unknown): ListedModel[] | null {
  const data = isRecord(body) ? body['data'] : null;
  if (!Array.isArray(data)) return null;
  return data
    .slice(0, mostModels)
    .filter(isRecord)
    .flatMap((model) =>
      typeof model['id'] === 'string' && model['id'] !== '' ? [{ id: model['id'], context: contextOf(model) }] : [],
    );
}

/** vLLM, OpenRouter, LM Studio and llama-server each have a name of their own for it. */
function contextOf(model: Record<string, unknown>): number | null {
  const meta = isRecord(model['meta']) ? model['meta'] : {};
  const values = [
    model['loaded_context_length'],
    model['max_model_len'],
    model['context_length'],
    model['context_window'],
    meta['n_ctx'],
  ];
  return values.find((value): value is number => typeof value === 'number' && value > 0) ?? null;
}
