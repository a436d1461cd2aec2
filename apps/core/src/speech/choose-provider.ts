import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { Secrets } from '../secret/secrets.ts';
import { speakElevenlabs, transcribeElevenlabs } from './elevenlabs.ts';
import { speechFault } from './endpoint-fault.ts';
import { findEspeak, speakEspeak } from './espeak.ts';
import { speakOpenai, transcribeOpenai } from './openai.ts';
import type { SpeechEndpoint, SttProvider, TtsProvider } from './provider.ts';

export type ProviderDeps = {
  settings: Pick<CoreSettings, 'tts' | 'stt'>;
  secrets: Pick<Secrets, 'resolve'>;
  knownSecrets: Pick<KnownSecrets, 'redactor'>;
  env: Readonly<Record<string, string | undefined>>;
};

type Vendor = { label: string; base: string; keySecret: string; tts: string; stt: string };
const vendors = {
  openai: {
    label: 'OpenAI',
    base: 'https://api.openai.com/v1',
    keySecret: 'OPENAI_API_KEY',
    tts: 'gpt-4o-mini-tts',
    stt: 'gpt-4o-mini-transcribe',
  },
  elevenlabs: {
    label: 'ElevenLabs',
    base: 'https://api.elevenlabs.io',
    keySecret: 'ELEVENLABS_API_KEY',
    tts: 'eleven_flash_v2_5',
    stt: 'scribe_v2',
  },
} as const satisfies Record<string, Vendor>;

export type SttId = keyof typeof vendors;
export type TtsId = SttId | 'espeak';

/** Names that self-hosted servers accept, whatever model they run. */
const ownModels = { tts: 'tts-1', stt: 'whisper-1' } as const;

/** The configured speech provider, else `espeak-ng` on this machine. @throws ServiceError `unavailable` when neither is available. */
export async function chooseTts(deps: ProviderDeps, askedModel: string | null): Promise<TtsProvider> {
  return ttsOf(deps, chosenTts(deps.settings.tts), askedModel);
}

/** The provider that the settings select. */
export const chosenTts = ({ provider, baseUrl }: CoreSettings['tts']): TtsId =>
  provider ?? (baseUrl === null ? 'espeak' : 'openai');

/** A speech provider by id. @throws ServiceError `unavailable` that says what is missing. */
export async function ttsOf(deps: ProviderDeps, id: TtsId, askedModel: string | null): Promise<TtsProvider> {
  const { tts } = deps.settings;
  if (id === 'espeak') return espeak(deps);
  const { endpoint, isMetered } = await openEndpoint(deps, 'tts', id);
  const speak = id === 'openai' ? speakOpenai : speakElevenlabs;
  return {
    name: id,
    model: askedModel ?? tts.model ?? usualModel(id, endpoint, 'tts'),
    isMetered,
    speak: (utterance, signal) => speak(endpoint, utterance, signal),
  };
}

/** The configured transcription provider. @throws ServiceError `unavailable` when there is none. */
export async function chooseStt(deps: ProviderDeps, askedModel: string | null): Promise<SttProvider> {
  const id = chosenStt(deps.settings.stt);
  if (id === null) {
    throw speechFault(
      'no_provider',
      'No transcription provider is set up. Set SVC_STT_BASE_URL to a server with the OpenAI API, or SVC_STT_PROVIDER to openai or elevenlabs.',
    );
  }
  return sttOf(deps, id, askedModel);
}

/** The provider that the settings select; null when they select none. */
export const chosenStt = ({ provider, baseUrl }: CoreSettings['stt']): SttId | null =>
  provider ?? (baseUrl === null ? null : 'openai');

/** A transcription provider by id. @throws ServiceError `unavailable` that says what is missing. */
export async function sttOf(deps: ProviderDeps, id: SttId, askedModel: string | null): Promise<SttProvider> {
  const { stt } = deps.settings;
  const { endpoint, isMetered } = await openEndpoint(deps, 'stt', id);
  const transcribe = id === 'openai' ? transcribeOpenai : transcribeElevenlabs;
  return {
    name: id,
    model: askedModel ?? stt.model ?? usualModel(id, endpoint, 'stt'),
    isMetered,
    transcribe: (clip, signal) => transcribe(endpoint, clip, signal),
  };
}

async function espeak({ settings, env }: ProviderDeps): Promise<TtsProvider> {
  const program = await findEspeak(env);
  if (program === null) {
    throw speechFault(
      'no_provider',
      'No speech provider is set up. Install espeak-ng, set SVC_TTS_BASE_URL to a server with the OpenAI API, or SVC_TTS_PROVIDER to openai or elevenlabs.',
    );
  }
  const place = { program, env, timeoutMs: settings.tts.timeoutMs };
  return {
    name: 'espeak',
    model: 'espeak-ng',
    isMetered: false,
    speak: (utterance, signal) => speakEspeak(place, utterance, signal),
  };
}

/** Calls with a key are billed; a self-hosted server needs none. */
async function openEndpoint(deps: ProviderDeps, kind: 'tts' | 'stt', id: keyof typeof vendors) {
  const { baseUrl, keySecret, timeoutMs } = deps.settings[kind];
  const vendor = vendors[id];
  const base = baseUrl ?? vendor.base;
  // A vendor's key is sent only to that vendor, unless the operator configures otherwise.
  const name = keySecret ?? (isOf(vendor, base) ? vendor.keySecret : null);
  const key = name === null ? null : await keyNamed(deps, name, vendor.label);
  const endpoint: SpeechEndpoint = {
    label: isOf(vendor, base) ? vendor.label : `the ${vendor.label} endpoint`,
    base,
    key,
    settings: kind === 'tts' ? 'SVC_TTS' : 'SVC_STT',
    timeoutMs,
    mask: (text) => masked(deps, text),
  };
  return { endpoint, isMetered: key !== null };
}

/** Without the list of secrets no text leaves the service. */
function masked({ knownSecrets }: ProviderDeps, text: string): string {
  try {
    return knownSecrets.redactor().text(text);
  } catch {
    return '[withheld]'; // /health reports the error itself
  }
}

async function keyNamed({ secrets }: ProviderDeps, name: string, label: string): Promise<Secret> {
  try {
    return await secrets.resolve(name);
  } catch (error) {
    throw speechFault('no_key', `${label} needs a key. ${errorText(error)}`, { cause: error });
  }
}

const usualModel = (id: keyof typeof vendors, { base }: SpeechEndpoint, kind: 'tts' | 'stt'): string =>
  id === 'openai' && !isOf(vendors.openai, base) ? ownModels[kind] : vendors[id][kind];

/** ElevenLabs has other host names for other regions. */
function isOf({ base }: Vendor, url: string): boolean {
  const { protocol, hostname } = new URL(url);
  const domain = new URL(base).hostname.split('.').slice(-2).join('.');
  return protocol === 'https:' && (hostname === domain || hostname.endsWith(`.${domain}`));
}
