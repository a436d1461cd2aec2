import { finished } from 'node:stream';
import type { SpeechBody, SpeechReport, Transcription } from '@svc/contract/speech.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import { textInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { ServiceError, badRequest, unavailable } from '@svc/service-kit/service-error.ts';
import type { Events } from '../events.ts';
import type { Pricing } from '../pricing/pricing.ts';
import type { Secrets } from '../secret/secrets.ts';
import type { Spend } from '../spend/spend.ts';
import { audioSeconds } from './audio-seconds.ts';
import { chooseStt, chooseTts, type ProviderDeps } from './choose-provider.ts';
import { checkNames } from './formats.ts';
import { createMeter } from './meter.ts';
import type { Clip, SpokenAudio } from './provider.ts';
import { createSlots } from './slots.ts';
import type { Speaker } from './speaker.ts';
import { speechReport } from './speech-report.ts';

type Deps = {
  settings: Pick<CoreSettings, 'stt' | 'tts'>;
  secrets: Secrets;
  knownSecrets: KnownSecrets;
  pricing: Pricing;
  spend: Spend;
  events: Events;
  clock: Clock;
  env: ProviderDeps['env'];
};

/** A clip that is read on demand, and the options of its transcription. */
export type ClipSource = {
  /** Called when a slot is free, so that waiting requests hold no memory. */
  read: () => Promise<Pick<Clip, 'bytes' | 'type' | 'mime'> & Partial<Wishes>>;
  wishes: Wishes;
  conversationKey: string | null;
};
export type Wishes = { model: string | null; language: string | null };

const bounds = { slots: 4, maxWaiting: 16, waitMs: 30_000 };

/** Text to speech and speech to text by the configured providers. Only a few calls run at once, and each is counted. */
export type Speech = {
  /** Resolves when the audio begins. @throws ServiceError `bad_request`, `too_large`, and what providers throw. */
  speak(body: SpeechBody, signal: AbortSignal, speaker?: Speaker | null): Promise<SpokenAudio>;
  /** @throws ServiceError what `read` and providers throw. */
  transcribe(source: ClipSource, signal: AbortSignal, speaker?: Speaker | null): Promise<Transcription>;
  /** The available providers, and what the others lack. */
  report(): Promise<SpeechReport>;
};

export function createSpeech(deps: Deps): Speech {
  const { settings, knownSecrets, clock } = deps;
  const meter = createMeter(deps);
  const speaking = createSlots({ ...bounds, what: 'texts are spoken' }, clock);
  const listening = createSlots({ ...bounds, what: 'clips are transcribed' }, clock);

  /** The text masked for providers outside this machine. */
  const outward = async (text: string): Promise<string> => {
    try {
      return await textInSlices(knownSecrets.redactor(), text);
    } catch (error) {
      throw unavailable('The text cannot be spoken while the known secrets cannot be read, because it may contain them.', error);
    }
  };

  return {
    async speak(
      { text, voice: asked, model, format }: SpeechBody,
      signal: AbortSignal,
      speaker: Speaker | null = null,
    ): Promise<SpokenAudio> {
      checkText(text, settings.tts.maxCharacters);
      const voice = asked ?? settings.tts.voice;
      checkNames({ voice, model });
      const spoken = await outward(text);
      const provider = await chooseTts(deps, model ?? null);
      meter.check(provider, speaker);
      const free = await speaking.take(signal);
      try {
        const utterance = { text: spoken, model: provider.model, voice, format: format ?? null };
        const audio = await provider.speak(utterance, signal);
        finished(audio.body, { writable: false }, free);
        const { name, isMetered } = provider;
        const quantity = lengthOf(spoken);
        meter.add(
          { feature: 'tts', provider: name, model: provider.model, quantity, isMetered, conversation_key: null },
          speaker,
        );
        return audio;
      } catch (error) {
        free();
        throw error;
      }
    },

    async transcribe(
      { read, wishes, conversationKey }: ClipSource,
      signal: AbortSignal,
      speaker: Speaker | null = null,
    ): Promise<Transcription> {
      // Before the clip is read, so that nobody sends one in vain.
      meter.check(await chooseStt(deps, null), speaker);
      const free = await listening.take(signal);
      try {
        const { bytes, type, mime, ...own } = await read();
        const { model, language } = checkWishes({ ...wishes, ...own });
        const provider = await chooseStt(deps, model);
        const seconds = audioSeconds(bytes, type);
        const heard = await provider.transcribe({ bytes, type, mime, model: provider.model, language }, signal);
        const { name, isMetered } = provider;
        const call = { feature: 'stt', provider: name, model: provider.model, quantity: seconds } as const;
        meter.add({ ...call, isMetered, conversation_key: conversationKey }, speaker);
        return { ok: true, ...heard, seconds, provider: name, model: provider.model };
      } finally {
        free();
      }
    },

    report: () => speechReport(deps),
  };
}

const lengthOf = (text: string): number => Array.from(text).length;

function checkText(text: string, limit: number): void {
  if (text.trim() === '') throw badRequest('There is nothing to speak: "text" is empty.');
  if (text.length <= limit || lengthOf(text) <= limit) return;
  throw new ServiceError('too_large', `The text is longer than ${limit} characters, the limit set by SVC_TTS_MAX_CHARACTERS.`, {
    details: { limit, variable: 'SVC_TTS_MAX_CHARACTERS' },
  });
}

function checkWishes(wishes: Wishes): Wishes {
  checkNames(wishes);
  const { language } = wishes;
  if (language === null || /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/.test(language)) return wishes;
  throw badRequest('"language" must be an ISO code, such as "en" or "de".');
}
