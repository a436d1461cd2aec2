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

/** Names that servers of one's own take, whatever model they have. */
const ownModels = { tts: 'tts-1', stt: 'whisper-1' } as const;

/** Who speaks: what the settings say, else `espeak-ng` of this machine. @throws ServiceError `unavailable` when nobody can. */
export async function chooseTts(deps: ProviderDeps, askedModel: string | null): Promise<TtsProvider> {
  return ttsOf(deps, chosenTts(deps.settings.tts), askedModel);
}

/** By the settings. */
export const chosenTts = ({ provider, baseUrl }: CoreSettings['tts']): TtsId =>
  provider ?? (baseUrl === null ? 'espeak' : 'openai');

/** One who speaks. @throws ServiceError `unavailable` with what is missing. */
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

/** Who transcribes. @throws ServiceError `unavailable` when nobody does. */
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

/** By the settings; null when nobody is set. */
export const chosenStt = ({ provider, baseUrl }: CoreSettings['stt']): SttId | null =>
  provider ?? (baseUrl === null ? null : 'openai');

/** One who transcribes. @throws ServiceError `unavailable` with what is missing. */
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

/** Calls with a key are paid for; a server of one's own wants none. */
async function openEndpoint(deps: ProviderDeps, kind: 'tts' | 'stt', id: keyof typeof vendors) {
  const { baseUrl, keySecret, timeoutMs } = deps.settings[kind];
  const vendor = vendors[id];
  const base = baseUrl ?? vendor.base;
  // A vendor's key goes to that vendor only, unless the operator says otherwise.
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

/** Without the list of secrets no text leaves. */
function masked({ knownSecrets }: ProviderDeps, text: string): string {
  try {
    return knownSecrets.redactor().text(text);
  } catch {
    return '[withheld]'; // the fault itself is in /health
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

/** ElevenLabs has other addresses for other regions. */
function isOf({ base }: Vendor, url: string): boolean {
  const { protocol, hostname } = new URL(url);
  const domain = new URL(base).hostname.split('.').slice(-2).join('.');
  return protocol === 'https:' && (hostname === domain || hostname.endsWith(`.${domain}`));
}
