import { setting } from '../setting.ts';
import { baseUrl, bytes, integer, oneOfOrNone, optionalText } from '../setting-types.ts';

/** Settings: providers of speech. Null is the provider's default; for `provider` it means that the address or the machine decides. */
export const speechSettings = {
  tts: {
    provider: setting('SVC_TTS_PROVIDER', oneOfOrNone(['openai', 'elevenlabs', 'espeak']), {
      text: 'Who speaks: openai (or a server with its API), elevenlabs or espeak. Unset: SVC_TTS_BASE_URL, else espeak-ng if it is installed.',
    }),
    baseUrl: setting('SVC_TTS_BASE_URL', baseUrl(), {
      text: "Its address, such as http://127.0.0.1:8880/v1. Unset: the vendor's.",
    }),
    keySecret: setting('SVC_TTS_KEY_SECRET', optionalText(), {
      text: "Name of the secret that is its key. Unset: OPENAI_API_KEY or ELEVENLABS_API_KEY at the vendor's own address, else none.",
    }),
    model: setting('SVC_TTS_MODEL', optionalText(), {
      text: 'Model that speaks if a call names none. Unset: the default of the provider.',
    }),
    voice: setting('SVC_TTS_VOICE', optionalText(), {
      text: 'Voice that speaks if a call names none. Unset: the default of the provider.',
    }),
    maxCharacters: setting('SVC_TTS_MAX_CHARACTERS', integer(1, 1_000_000), {
      text: 'Maximum length of a text to speak.',
      default: '4096',
    }),
    timeoutMs: setting('SVC_TTS_TIMEOUT_MS', integer(100, 3_600_000), {
      text: 'How long a speaking provider may be silent.',
      default: '60000',
    }),
  },
  stt: {
    provider: setting('SVC_STT_PROVIDER', oneOfOrNone(['openai', 'elevenlabs']), {
      text: 'Who transcribes: openai (or a server with its API) or elevenlabs. Unset: SVC_STT_BASE_URL, else none.',
    }),
    baseUrl: setting('SVC_STT_BASE_URL', baseUrl(), {
      text: "Its address, such as http://127.0.0.1:8000/v1. Unset: the vendor's.",
    }),
    keySecret: setting('SVC_STT_KEY_SECRET', optionalText(), {
      text: 'Name of the secret that is its key. Unset: as for SVC_TTS_KEY_SECRET.',
    }),
    model: setting('SVC_STT_MODEL', optionalText(), {
      text: 'Model that transcribes if a call names none. Unset: the default of the provider.',
    }),
    maxBytes: setting('SVC_STT_MAX_SIZE', bytes(), { text: 'Maximum size of a clip to transcribe.', default: '25mb' }),
    timeoutMs: setting('SVC_STT_TIMEOUT_MS', integer(100, 3_600_000), {
      text: 'How long a transcribing provider may be silent.',
      default: '120000',
    }),
  },
};
