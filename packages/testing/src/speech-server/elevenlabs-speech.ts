import { heardIn } from './fake-audio.ts';
import { type SpeechAnswer, type SpeechRequest, spoken } from './speech-request.ts';

export const elevenlabsVoice = 'JBFqnCBsd6RMkjVDRZzb';
const ttsModels = ['eleven_multilingual_v2', 'eleven_flash_v2_5', 'eleven_v3'];
const sttModels = ['scribe_v1', 'scribe_v2'];
const formats: Record<string, [mime: string, format: string]> = {
  mp3_44100_128: ['audio/mpeg', 'mp3'],
  opus_48000_64: ['audio/opus', 'opus'],
  pcm_24000: ['audio/pcm', 'pcm'],
};

/** `POST /v1/text-to-speech/:voice/stream` and `/v1/speech-to-text` as their reference describes them; null for other paths. */
export function answerElevenlabs(request: SpeechRequest, expected: string | null): SpeechAnswer | null {
  const { path, key } = request;
  const voice = /^\/v1\/text-to-speech\/([^/]+)\/stream$/.exec(path)?.[1];
  if (voice === undefined && path !== '/v1/speech-to-text') return null;
  if (expected !== null && key !== expected) return elevenlabsError(401, 'invalid_api_key', 'Invalid API key');
  return voice === undefined ? transcribe(request) : speak(decodeURIComponent(voice), request);
}

function speak(voice: string, { fields: { text, model_id }, query }: SpeechRequest): SpeechAnswer {
  if (typeof text !== 'string') return invalid('text');
  if (voice !== elevenlabsVoice)
    return elevenlabsError(404, 'voice_not_found', `A voice with the voice_id ${voice} was not found.`);
  if (!ttsModels.includes(String(model_id))) return noModel(model_id);
  const [mime, format] = formats[query.get('output_format') ?? 'mp3_44100_128'] ?? [];
  return mime === undefined || format === undefined ? invalid('output_format') : spoken(mime, format, text);
}

function transcribe({ fields: { model_id, language_code }, file }: SpeechRequest): SpeechAnswer {
  if (!sttModels.includes(String(model_id))) return noModel(model_id);
  if (file === null) return invalid('file');
  const text = heardIn(file.bytes);
  const words = [{ text, start: 0, end: 1.5, type: 'word', speaker_id: 'speaker_0', logprob: -0.1 }];
  const language = typeof language_code === 'string' ? language_code : 'eng';
  return { status: 200, json: { language_code: language, language_probability: 0.98, text, words } };
}

const noModel = (model: unknown) =>
  elevenlabsError(400, 'model_not_found', `A model with model ID ${String(model)} does not exist`);

const invalid = (field: string): SpeechAnswer => ({
  status: 422,
  json: { detail: [{ type: 'missing', loc: ['body', field], msg: 'Field required', input: null }] },
});

export const elevenlabsError = (status: number, code: string, message: string): SpeechAnswer => ({
  status,
  json: { detail: { status: code, message } },
});
