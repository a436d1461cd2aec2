import type { SpeechProviderState, SpeechReport } from '@svc/contract/speech.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { chosenStt, chosenTts, type ProviderDeps, sttOf, ttsOf } from './choose-provider.ts';

const ttsIds = ['espeak', 'openai', 'elevenlabs'] as const;
const sttIds = ['openai', 'elevenlabs'] as const;

/**
 * Which speech and transcription providers are available, which are selected, and what the others lack. No provider is called: an existing
 * key may still be rejected.
 */
export async function speechReport(deps: ProviderDeps): Promise<SpeechReport> {
  const { tts, stt } = deps.settings;
  const [speaks, listens] = [chosenTts(tts), chosenStt(stt)];
  return {
    tts: await Promise.all(ttsIds.map((id) => stateOf(id, id === speaks, () => ttsOf(ofOwn(deps, id === speaks), id, null)))),
    stt: await Promise.all(sttIds.map((id) => stateOf(id, id === listens, () => sttOf(ofOwn(deps, id === listens), id, null)))),
    max_characters: tts.maxCharacters,
    max_clip_bytes: stt.maxBytes,
  };
}

/** Address, key and model in the settings belong to the selected provider only. */
function ofOwn(deps: ProviderDeps, isChosen: boolean): ProviderDeps {
  if (isChosen) return deps;
  const { tts, stt } = deps.settings;
  const none = { baseUrl: null, keySecret: null, model: null } as const;
  return { ...deps, settings: { tts: { ...tts, ...none }, stt: { ...stt, ...none } } };
}

type Found = { model: string; isMetered: boolean };

async function stateOf(
  provider: SpeechProviderState['provider'],
  chosen: boolean,
  find: () => Promise<Found>,
): Promise<SpeechProviderState> {
  try {
    const { model, isMetered } = await find();
    return { provider, chosen, ready: true, model, is_paid: isMetered, reason: null };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { provider, chosen, ready: false, model: null, is_paid: false, reason: error.message };
  }
}
