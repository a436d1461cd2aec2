import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Session } from '@svc/contract/session.ts';
import type { UsageRollup } from '@svc/contract/usage.ts';
import { openHouse, type House } from '@svc/testing/house.ts';

let house: House;
let client: OpenAI;
beforeAll(async () => {
  house = await openHouse();
  client = new OpenAI({ baseURL: `${house.urls.compat}/v1`, apiKey: house.key(), maxRetries: 0 });
});
afterAll(() => house.stop());

const ask = async (text: string, headers: Record<string, string> = {}) => {
  const reply = await client.chat.completions.create({ model: 'svc', messages: [{ role: 'user', content: text }] }, { headers });
  return { text: reply.choices[0]?.message.content, usage: reply.usage };
};
const sessions = async () => (await house.get<{ sessions: Session[] }>(`${house.urls.core}/v2/sessions`)).sessions;

describe('an OpenAI client', () => {
  test('gets a reply with usage figures', async () => {
    const reply = await ask('echo hello');
    expect(reply.text).toBe('hello');
    expect(reply.usage?.total_tokens).toBeGreaterThan(0);
  });

  test('gets a streamed reply', async () => {
    const stream = await client.chat.completions.create({
      model: 'svc',
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'count 5' }],
    });
    let text = '';
    let usage = 0;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage?.total_tokens ?? usage;
    }
    expect(text).toBe('1\n2\n3\n4\n5\n');
    expect(usage).toBeGreaterThan(0);
  });

  test('resumes its session with the same first message, and has its own with a session header', async () => {
    const before = (await sessions()).length;
    await ask('echo again');
    await ask('echo again');
    expect((await sessions()).length).toBe(before + 1);
    expect((await sessions())[0]).toMatchObject({ turns: 2, surface: 'compat', instance_id: 'compat' });
    await ask('echo again', { 'X-Session-Key': 'other' });
    expect((await sessions()).length).toBe(before + 2);
  });

  test('gets 401 with a wrong key', async () => {
    const stranger = new OpenAI({ baseURL: `${house.urls.compat}/v1`, apiKey: 'sk-wrong', maxRetries: 0 });
    await expect(stranger.models.list()).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  test('sees one model', async () => {
    expect((await client.models.list()).data.map((model) => model.id)).toEqual(['svc']);
  });

  test('asks for the state of the conversation with a chat command', async () => {
    expect((await ask('/status')).text).toContain('Engine: offline');
  });
});

describe('usage', () => {
  test('is counted per person, and the session row knows its resume id', async () => {
    await ask('echo count me');
    await expect
      .poll(async () => (await house.get<{ usage: UsageRollup[] }>(`${house.urls.collector}/api/usage?since=0`)).usage)
      .toMatchObject([{ surface: 'compat', principal: 'owner' }]);
    expect((await sessions())[0]?.engine_session_id).toMatch(/^offline-/);
  });
});

describe('the service', () => {
  test('tells the same version everywhere', async () => {
    const versions = await Promise.all(
      Object.values(house.urls).map((url) => house.get<{ sha: string; version: string }>(`${url}/version`)),
    );
    expect(new Set(versions.map(({ sha, version }) => `${version} ${sha}`)).size).toBe(1);
  });

  test('describes its routes', async () => {
    const document = await house.get<{ paths: Record<string, unknown> }>(`${house.urls.core}/openapi.json`);
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/v2/handle', '/v2/session/{key}', '/query', '/health']));
  });

  test('shows the key once, in the banner of the first start', () => {
    expect(house.output()).toContain(house.key());
  });
});
