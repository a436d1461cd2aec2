import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Session } from '@svc/contract/session.ts';
import type { UsageRollup } from '@svc/contract/usage.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { createRemoteUsers, userProofVariable } from '@svc/service-kit/http/remote-users.ts';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';
import { openHouse, type House } from '@svc/testing/house.ts';
import { runSvc } from '@svc/testing/run-svc.ts';
import { testUnless, whyNotLinux } from '@svc/testing/skip-note.ts';

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

  test('resumes the session with the same first message, and opens another with a session header', async () => {
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

  test('gets the state of the conversation by a chat command', async () => {
    expect((await ask('/status')).text).toContain('Engine: offline');
  });
});

describe('usage', () => {
  test('is counted per person, and the session has the resume id of its engine', async () => {
    await ask('echo count me');
    await expect
      .poll(async () => (await house.get<{ usage: UsageRollup[] }>(`${house.urls.collector}/api/usage?since=0`)).usage)
      .toMatchObject([{ surface: 'compat', principal: 'owner' }]);
    expect((await sessions())[0]?.engine_session_id).toMatch(/^offline-/);
  });
});

describe('the service', () => {
  test('reports the same version from each process', async () => {
    const versions = await Promise.all(
      Object.values(house.urls).map((url) => house.get<{ sha: string; version: string }>(`${url}/version`)),
    );
    expect(new Set(versions.map(({ sha, version }) => `${version} ${sha}`)).size).toBe(1);
  });

  test('describes its routes in /openapi.json', async () => {
    const document = await house.get<{ paths: Record<string, unknown> }>(`${house.urls.core}/openapi.json`);
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/v2/handle', '/v2/session/{key}', '/query', '/health']));
  });

  testUnless(whyNotLinux())('shares a secret for user names between core and collector alone', async () => {
    const secretOf = (pid: number) =>
      new RegExp(`\\0${userProofVariable}=([^\\0]*)`).exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[1];
    const secret = secretOf(house.pidOf('core'));
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(secretOf(house.pidOf('collector'))).toBe(secret);
    for (const pid of [house.pid, house.pidOf('manager'), await house.compatPid()]) expect(secretOf(pid)).toBeUndefined();
    const post = (headers: Record<string, string>) =>
      requestJson(`${house.urls.core}/trust/roles`, {
        body: { name: `of-${headers['remote-user']}`, tier: 'GUEST', tool_policy: 'none' },
        headers,
        timeoutMs: 40_000,
      });
    await post(createRemoteUsers(secret).headersFor('anna'));
    await post({ 'remote-user': 'bob' });
    const { audit } = await house.get<{ audit: { actor: string }[] }>(`${house.urls.core}/trust/audit?limit=2`);
    expect(audit.map(({ actor }) => actor)).toEqual(['local', 'anna']);
    const logs = path.join(house.folder, 'logs');
    for (const file of readdirSync(logs)) expect(readFileSync(path.join(logs, file), 'utf8')).not.toContain(secret);
  });

  test('shows the API key in the banner of the first start', () => {
    expect(house.output()).toContain(house.key());
  });
});

describe('an additional API key', () => {
  const portOf = (url: string) => new URL(url).port;
  const svc = (...args: string[]) =>
    runSvc(['key', ...args], {
      env: {
        PATH: process.env['PATH'],
        HOME: house.folder,
        SVC_DATA_DIR: house.folder,
        SVC_CORE_PORT: portOf(house.urls.core),
        SVC_MANAGER_PORT: portOf(house.urls.manager),
        SVC_COLLECTOR_PORT: portOf(house.urls.collector),
      },
    });
  const say = (apiKey: string) =>
    new OpenAI({ baseURL: `${house.urls.compat}/v1`, apiKey, maxRetries: 0 }).chat.completions.create({
      model: 'svc',
      messages: [{ role: 'user', content: 'echo mine' }],
    });
  const keyIn = (out: string) => /sk-svc-[\w-]{43}/.exec(out)?.[0] ?? '';

  test('is shown when made, listed without its value, and refused as soon as it is revoked', async () => {
    const made = await svc('create', 'laptop', '--budget', '20');
    expect(made).toMatchObject({ code: 0, err: '' });
    const key = keyIn(made.out);
    await expect.poll(async () => (await say(key).catch(() => null))?.choices[0]?.message.content).toBe('mine');
    const listed = await svc('list');
    expect(listed.out).toMatch(/laptop.*for owner.*\$0\.00 of \$20\.00 this month/);
    expect(listed.out).not.toContain(key);
    expect(await svc('create', 'laptop')).toMatchObject({
      code: 1,
      err: expect.stringContaining('A key named "laptop" already exists') as string,
    });
    expect(await svc('revoke', 'laptop')).toMatchObject({ code: 0, err: '' });
    await expect(say(key)).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect((await svc('list')).out).not.toContain('laptop');
    expect(await svc('revoke', 'laptop')).toMatchObject({ code: 1 });
    expect((await client.models.list()).data).toHaveLength(1);
  });

  test('gets insufficient_quota over its budget, while other keys still work', async () => {
    const key = keyIn((await svc('create', 'poor', '--budget', '0')).out);
    await expect.poll(() => say(key).catch((error: unknown) => error)).toMatchObject({ status: 429, code: 'insufficient_quota' });
    expect((await ask('echo still')).text).toBe('still');
  });

  test('has the rights of the person it is made for', async () => {
    const person = { key: 'nobody', display_name: 'N' };
    await house.post(`${house.urls.core}/trust/principals`, person);
    const made = JSON.parse((await svc('create', 'theirs', '--for', 'nobody', '--json')).out) as { key: string; for: string };
    expect(made.for).toBe('nobody');
    await expect.poll(() => say(made.key).catch((error: unknown) => error)).toMatchObject({ status: 403, code: 'no_access' });
    expect(await svc('create', 'other', '--for', 'no-such-person')).toMatchObject({ code: 1 });
    expect((await svc('list')).out).not.toContain('other');
  });

  test('is not lost when several are made at the same time', async () => {
    const names = ['a1', 'a2', 'a3'];
    const made = await Promise.all(names.map((name) => svc('create', name, '--json')));
    expect(made.map(({ code }) => code)).toEqual([0, 0, 0]);
    const { keys } = JSON.parse((await svc('list', '--json')).out) as { keys: { name: string }[] };
    expect(keys.map(({ name }) => name)).toEqual(expect.arrayContaining([...names, 'owner']));
  });
});

test('Ctrl-C stops every process and exits with 0', async () => {
  const all = [...['core', 'manager', 'collector'].map((name) => house.pidOf(name)), await house.compatPid()];
  expect(all.every(isAlive)).toBe(true);
  expect(await house.stop()).toBe(0);
  expect(all.filter(isAlive)).toEqual([]);
});
