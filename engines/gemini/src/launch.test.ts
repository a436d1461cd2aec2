import { afterAll, describe, expect, test } from 'vitest';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { geminiArgs, geminiEnv } from './launch.ts';
import { defaultModel } from './pin.ts';
import { newHome } from './session-home.ts';

const folder = temporaryFolder();
const stateDir = folder.path;
afterAll(() => folder.remove());
const home = newHome(stateDir, {});
const env = {
  PATH: '/bin',
  HOME: '/home/x',
  GEMINI_API_KEY: 'vendor',
  GEMINI_CLI_HOME: '/elsewhere',
  GOOGLE_APPLICATION_CREDENTIALS: '/x',
  SVC_MANAGER_TOKEN: 'hush',
  HTTPS_PROXY: 'http://p',
  ALL_PROXY: 'http://p',
  no_proxy: 'x',
};
const relay = { url: 'http://127.0.0.1:1', key: 'turn' };

describe('environment of gemini', () => {
  test("contains the relay, its key and the session's home, and nothing of the service", () => {
    const made = geminiEnv({ env, stateDir }, { toolPolicy: 'full' }, home, relay);
    expect(made).toMatchObject({ GEMINI_API_KEY: 'turn', GOOGLE_GEMINI_BASE_URL: relay.url, GEMINI_CLI_HOME: home.dir });
    expect(Object.keys(made).filter((name) => /SVC_|CREDENTIALS|proxy/i.test(name))).toEqual([]);
    expect(made).not.toHaveProperty('GEMINI_CLI_TRUST_WORKSPACE');
  });

  test('with policy none, marks the folder as untrusted and sets the system prompt file', () => {
    expect(geminiEnv({ env, stateDir }, { toolPolicy: 'none' }, home, relay)).toMatchObject({
      GEMINI_CLI_TRUST_WORKSPACE: 'false',
      GEMINI_SYSTEM_MD: home.systemFile,
    });
  });
});

test('always passes a model name, which cannot be read as an option', () => {
  const request = engineRequest({ prompt: 'x', cwd: '/' });
  expect(geminiArgs(request, home, null)).toContain(`--model=${defaultModel}`);
  expect(geminiArgs({ ...request, model: '--yolo' }, home, null)).toContain('--model=--yolo');
});

test('passes a new session id, or resumes a known session', () => {
  const request = engineRequest({ prompt: 'x', cwd: '/' });
  expect(geminiArgs(request, home, null).join(' ')).toContain(`--session-id ${home.id}`);
  expect(geminiArgs(request, { ...home, isNew: false }, '/f').join(' ')).toMatch(
    new RegExp(`--resume ${home.id}.*--include-directories /f`),
  );
});
