import { afterEach, beforeEach, onTestFinished } from 'vitest';
import { fakeAudio } from '@svc/testing/speech-server/fake-audio.ts';
import { startSpeechServer, type SpeechServer } from '@svc/testing/speech-server/start-speech-server.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

/** The key that the provider takes. */
export const key = 'sk-speech-0123456789abcdef';
export const clip = fakeAudio('opus', 'what was said');

/** A provider of speech, new for each test of a file, and a core that a test opens with the settings it is about. */
export function openSpeechBench() {
  let core: TestCore;
  let server: SpeechServer;
  beforeEach(async () => {
    server = await startSpeechServer({ key });
    onTestFinished(() => server.close());
  });
  afterEach(() => core.close());

  /** Settings of a core that speaks and transcribes through the provider, in the way of OpenAI. */
  const openai = () => ({
    SVC_TTS_BASE_URL: `${server.url}/v1`,
    SVC_TTS_KEY_SECRET: 'SPEECH_KEY',
    SVC_STT_BASE_URL: `${server.url}/v1`,
    SVC_STT_KEY_SECRET: 'SPEECH_KEY',
    SPEECH_KEY: key,
  });
  const upload =
    (route: string) =>
    (payload: Buffer, query = '', type = 'audio/ogg') =>
      core.app.inject({ method: 'POST', url: `${route}${query}`, payload, headers: { 'content-type': type } });

  return {
    get core() {
      return core;
    },
    get server() {
      return server;
    },
    openai,
    /** The same in the way of ElevenLabs. */
    elevenlabs: () => ({
      ...openai(),
      SVC_TTS_PROVIDER: 'elevenlabs',
      SVC_TTS_BASE_URL: server.url,
      SVC_STT_PROVIDER: 'elevenlabs',
      SVC_STT_BASE_URL: server.url,
    }),
    async open(env: Record<string, string> = openai()): Promise<void> {
      core = await openTestCore({ env });
    },
    speak: (body: object) => core.app.inject({ method: 'POST', url: '/v2/tts', payload: body }),
    transcribe: upload('/v2/transcribe'),
    record: upload('/v2/recordings'),
    usage: () => core.telemetry.events.filter(({ kind }) => kind === 'token-usage'),
    /** The provider goes away; what this gives lets it come back at its address. */
    async stopServer(): Promise<() => Promise<void>> {
      const port = Number(new URL(server.url).port);
      await server.close();
      return async () => {
        server = await startSpeechServer({ key, port });
      };
    },
  };
}
