import { isRecord } from '@svc/contract/json-value.ts';

/** Names of models for embeddings, ranking, transcription, speech or images: they cannot hold a conversation. */
const otherWork =
  /embed|minilm|whisper|rerank|dall-e|stable-diffusion|parakeet|moderation|(?:^|[-_/.:])(?:bge|e5|gte|tts|stt|asr|kokoro|piper|flux|clip|bert|sam\d?)(?:$|[-_/.:\d])/i;

/** Whether a model can hold a conversation, judged by its name alone. */
export const isChatModel = (id: string): boolean => !otherWork.test(id);

/** A model in a server's list. `context` in tokens, if the server reports it. */
export type ListedModel = { id: string; context: number | null };

const mostModels = 500;

/** Parses the body of `GET /v1/models` in the forms of the common servers. Null when it is not such a list. */
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

/** vLLM, OpenRouter, LM Studio and llama-server each use a different name for it. */
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
