import { expect, test } from 'vitest';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { createRedactor } from '@svc/service-kit/redaction/redactor.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { chooseStt, chooseTts } from './choose-provider.ts';

/** The providers chosen with these settings, and the secrets that were read. */
async function choose(env: Record<string, string>) {
  const asked: string[] = [];
  const resolve = (name: string) => {
    asked.push(name);
    return Promise.resolve(new Secret('a-key'));
  };
  const knownSecrets = { redactor: () => createRedactor([]) };
  const deps = { settings: loadSettings('/nowhere', env), secrets: { resolve }, knownSecrets, env: {} };
  const tts = await chooseTts(deps, null);
  const stt = await chooseStt(deps, null);
  return { asked, tts: [tts.name, tts.model, tts.isMetered], stt: [stt.name, stt.model, stt.isMetered] };
}

const both = (env: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    ['TTS', 'STT'].flatMap((kind) => Object.entries(env).map(([name, value]) => [`SVC_${kind}_${name}`, value])),
  );

test.each([
  [{ PROVIDER: 'openai' }, 'OPENAI_API_KEY', 'gpt-4o-mini-tts', 'gpt-4o-mini-transcribe'],
  [{ BASE_URL: 'https://eu.api.openai.com/v1/' }, 'OPENAI_API_KEY', 'gpt-4o-mini-tts', 'gpt-4o-mini-transcribe'],
  [{ PROVIDER: 'elevenlabs' }, 'ELEVENLABS_API_KEY', 'eleven_flash_v2_5', 'scribe_v2'],
  [
    { PROVIDER: 'elevenlabs', BASE_URL: 'https://api.eu.residency.elevenlabs.io' },
    'ELEVENLABS_API_KEY',
    'eleven_flash_v2_5',
    'scribe_v2',
  ],
  [{ BASE_URL: 'https://speech.example/v1', KEY_SECRET: 'MY_KEY', MODEL: 'm' }, 'MY_KEY', 'm', 'm'],
])('%j uses the key %s', async (env, secret, tts, stt) => {
  const found = await choose(both(env));
  expect(found.asked).toEqual([secret, secret]);
  expect([found.tts.slice(1), found.stt.slice(1)]).toEqual([
    [tts, true],
    [stt, true],
  ]);
});

test.each([
  'http://127.0.0.1:8880/v1',
  'http://api.openai.com/v1',
  'https://api.openai.com.example.org/v1',
  'https://notopenai.com/v1',
  'https://openai.com@example.org/v1',
])('the key of a vendor is not sent to %s', async (url) => {
  const found = await choose(both({ PROVIDER: 'openai', BASE_URL: url }));
  expect(found.asked).toEqual([]);
  expect(found).toMatchObject({ tts: ['openai', 'tts-1', false], stt: ['openai', 'whisper-1', false] });
});
