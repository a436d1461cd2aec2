/** Names of models that turn text into vectors, rank, hear, speak or draw: they cannot hold a conversation. */
const otherWork =
  /embed|minilm|whisper|rerank|dall-e|stable-diffusion|parakeet|moderation|(?:^|[-_/.:])(?:bge|e5|gte|tts|stt|asr|kokoro|piper|flux|clip|bert|sam\d?)(?:$|[-_/.:\d])/i;

/** Whether a model, by its name alone, may be one to talk to. */
export const isChatModel = (id: string): boolean => !otherWork.test(id);
