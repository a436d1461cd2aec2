import { readdirSync } from 'node:fs';
import path from 'node:path';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Session } from '@svc/contract/session.ts';
import type { UsageRollup } from '@svc/contract/usage.ts';
import { openHouse, type House } from '@svc/testing/house.ts';
import { startModelServer, type ModelServer } from '@svc/testing/model-server/start-model-server.ts';
import { testEngine, whyNoEngine } from '@svc/testing/model-server/test-engines.ts';

let model: ModelServer;
beforeAll(async () => {
  model = await startModelServer();
});
afterAll(() => model.close());

const engines = [
  {
    id: 'claude',
    settings: (dir: string) => ({ SVC_CLAUDE_PATH: dir, SVC_CLAUDE_BASE_URL: model.url, SVC_ENGINE_MODEL: 'claude-sonnet-4-5' }),
  },
  {
    id: 'codex',
    settings: (dir: string) => ({ SVC_CODEX_PATH: dir, SVC_CODEX_BASE_URL: `${model.url}/v1`, SVC_ENGINE_MODEL: 'scripted' }),
  },
  {
    id: 'gemini',
    settings: (dir: string) => ({ SVC_GEMINI_PATH: dir, SVC_GEMINI_BASE_URL: model.url }),
  },
];

describe.each(engines)('an OpenAI client and a real $id turn', ({ id, settings }) => {
  const dir = testEngine(id);
  const why = whyNoEngine(id);
  let house: House | null = null;
  afterEach(async () => {
    await house?.stop();
    house = null;
  });

  test('answers, counts tokens, resumes the session, maps an upstream error, and deletes engine state with the conversation', async ({
    skip,
  }) => {
    skip(why !== null, why ?? undefined);
    house = await openHouse({ env: { SVC_DEFAULT_ENGINE: id, ...settings(dir ?? '') } });
    const { urls, folder } = house;
    const client = new OpenAI({ baseURL: `${urls.compat}/v1`, apiKey: house.key(), maxRetries: 0 });
    const ask = (text: string, session = 'one') =>
      client.chat.completions.create(
        { model: 'svc', messages: [{ role: 'user', content: text }] },
        { headers: { 'x-session-key': session } },
      );

    const reply = await ask('hello there');
    expect(reply.choices[0]?.message.content).toBe('Hello from the scripted model, this is a streamed reply.');
    expect(reply.usage?.completion_tokens).toBeGreaterThan(0);
    const { sessions } = await house.get<{ sessions: Session[] }>(`${urls.core}/v2/sessions`);
    expect(sessions).toMatchObject([{ engine_id: id, turns: 1, engine_session_id: expect.stringMatching(/^[0-9a-f-]{36}$/) }]);
    const { conversation_key = '', engine_session_id = '' } = sessions[0] ?? {};
    const session = `${urls.core}/v2/session/${encodeURIComponent(conversation_key)}`;

    await ask('hello there');
    expect(await house.get<Session>(session)).toMatchObject({ turns: 2, engine_session_id });

    const usage = async () => (await openUsage(urls.collector)).at(0);
    await expect.poll(usage).toMatchObject({ surface: 'compat', principal: 'owner', turns: 2, estimated_turns: 0 });
    expect((await usage())?.output_tokens).toBeGreaterThan(0);

    await expect(ask('FAIL401', 'other')).rejects.toMatchObject({ status: 502, code: 'engine_auth_failed' });

    const written = () =>
      readdirSync(path.join(folder, 'engine-state'), { recursive: true, encoding: 'utf8' }).filter((file) =>
        path.basename(file).includes(engine_session_id ?? ''),
      );
    expect(written()).not.toEqual([]);
    expect((await fetch(session, { method: 'DELETE' })).status).toBe(200);
    await expect.poll(written).toEqual([]);
  });

  const openUsage = async (collector: string) =>
    (await house!.get<{ usage: UsageRollup[] }>(`${collector}/api/usage?since=0`)).usage;
});
