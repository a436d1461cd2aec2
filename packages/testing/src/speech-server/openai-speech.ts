import { heardIn } from './fake-audio.ts';
import { type SpeechAnswer, type SpeechRequest, spoken } from './speech-request.ts';

const ttsModels = ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'];
const sttModels = ['whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe'];
const voices = ['alloy', 'ash', 'ballad', 'coral', 'echo', 'fable', 'nova', 'onyx', 'sage', 'shimmer', 'verse'];
const mimes: Record<string, string> = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};
const fileTypes = ['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'mpga', 'oga', 'ogg', 'wav', 'webm'];

/** `POST /v1/audio/speech` and `/v1/audio/transcriptions` as their reference describes them; null for other paths. */
export function answerOpenai({ path, key, fields, file }: SpeechRequest, expected: string | null): SpeechAnswer | null {
  const route = { '/v1/audio/speech': () => speak(fields), '/v1/audio/transcriptions': () => transcribe(fields, file) }[path];
  if (route === undefined) return null;
  if (expected === null || key === `Bearer ${expected}`) return route();
  if (key === null) return openaiError(401, null, "You didn't provide an API key.");
  return openaiError(401, 'invalid_api_key', `Incorrect API key provided: ${key.slice(7, 17)}********. Find yours on the site.`);
}

function speak({ model, input, voice, response_format: format = 'mp3' }: Record<string, unknown>): SpeechAnswer {
  if (!ttsModels.includes(String(model))) return noModel(model);
  if (typeof voice !== 'string' || !voices.includes(voice)) {
    return openaiError(
      400,
      'invalid_value',
      `Invalid value: '${String(voice)}'. Supported values are: ${voices.join()}.`,
      'voice',
    );
  }
  if (typeof input !== 'string' || input.length < 1 || input.length > 4096) {
    return openaiError(400, 'string_above_max_length', 'Input should have at most 4096 characters', 'input');
  }
  const mime = mimes[String(format)];
  if (mime === undefined) return openaiError(400, 'invalid_value', `Invalid value: '${String(format)}'.`, 'response_format');
  return spoken(mime, String(format), input);
}

function transcribe(fields: Record<string, unknown>, file: SpeechRequest['file']): SpeechAnswer {
  const { model, response_format: format = 'json', language } = fields;
  if (!sttModels.includes(String(model))) return noModel(model);
  if (file === null) return openaiError(400, null, 'file is a required field', 'file');
  if (!fileTypes.includes(file.name.split('.').at(-1) ?? '')) {
    return openaiError(400, null, `Unrecognized file format. Supported formats: ${JSON.stringify(fileTypes)}`);
  }
  const text = heardIn(file.bytes);
  if (model !== 'whisper-1') {
    if (format === 'verbose_json') {
      return openaiError(
        400,
        'unsupported_value',
        `response_format 'verbose_json' is not compatible with model '${String(model)}'.`,
      );
    }
    const input_token_details = { audio_tokens: 14, text_tokens: 0 };
    return {
      status: 200,
      json: { text, usage: { type: 'tokens', input_tokens: 14, input_token_details, output_tokens: 8, total_tokens: 22 } },
    };
  }
  const usage = { type: 'duration', seconds: 2 };
  if (format !== 'verbose_json') return { status: 200, json: { text, usage } };
  const spokenIn = typeof language === 'string' ? language : 'english';
  return { status: 200, json: { task: 'transcribe', language: spokenIn, duration: 1.5, text, segments: [], usage } };
}

const noModel = (model: unknown) =>
  openaiError(404, 'model_not_found', `The model \`${String(model)}\` does not exist or you do not have access to it.`);

export const openaiError = (status: number, code: string | null, message: string, param: string | null = null): SpeechAnswer => ({
  status,
  json: { error: { message, type: 'invalid_request_error', param, code } },
});
