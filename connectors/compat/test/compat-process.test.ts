import { writeFileSync } from 'node:fs';
import path from 'node:path';
import OpenAI, { APIError } from 'openai';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HandleResult } from '@svc/contract/turn.ts';
import { defaultsOf } from '@svc/connector-kit/testing/fake-context.ts';
import { forkConnector, type ForkedConnector } from '@svc/connector-kit/testing/fork-connector.ts';
import { startLinkServer, type LinkCall, type LinkServer } from '@svc/connector-kit/testing/link-server.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { meta } from '../src/index.ts';

const key = 'a-key-of-forty-characters-0123456789abcd';
const messages = [{ role: 'user' as const, content: 'hi' }];
const result = (text: string): HandleResult => ({
  actions: [{ type: 'reply', text }],
  outcome: 'replied',
  conversation_key: 'k',
  turn_id: 't',
});

describe('compat process', () => {
  let folder: TemporaryFolder;
  let forked: ForkedConnector;
  let core: LinkServer;
  let answer: (call: LinkCall) => void;
  let client: OpenAI;
  let address: string;
  const socketPath = () => path.join(folder.path, 'core.sock');
  const startCore = async () => (core = await startLinkServer(socketPath(), (call) => answer(call)));

  beforeEach(async () => {
    folder = temporaryFolder();
    answer = (call) =>
      call.reply(
        { frame: { type: 'delta', text: 'he' } },
        { frame: { type: 'delta', text: 'llo' } },
        { result: result('hello') },
      );
    const keysFile = path.join(folder.path, 'keys.json');
    writeFileSync(keysFile, JSON.stringify({ keys: [{ key, identity: 'ann', username: 'Ann' }] }), { mode: 0o600 });
    await startCore();
    forked = forkConnector({
      connectorType: 'compat',
      entry: path.join(import.meta.dirname, '../src/index.ts'),
      dataDir: folder.path,
      coreSocket: socketPath(),
      config: { ...defaultsOf(meta), port: 0, keys_file: keysFile },
    });
    const { url } = await forked.message('ready');
    address = url ?? '';
    client = new OpenAI({ baseURL: `${address}/v1`, apiKey: key, maxRetries: 0 });
  });
  afterEach(async () => {
    forked.kill();
    await forked.exit;
    await core.stop();
    folder.remove();
  });
  const ask = () => client.chat.completions.create({ model: 'svc', messages });
  const stream = async () => {
    const words: string[] = [];
    const error = await (async () => {
      const chunks = await client.chat.completions.create({ model: 'svc', messages, stream: true });
      for await (const chunk of chunks) words.push(chunk.choices[0]?.delta.content ?? '');
    })().catch((thrown: unknown) => thrown);
    return { text: words.join(''), error };
  };

  test('reports its version and describes all its routes', async () => {
    const get = async (path: string) => (await (await fetch(`${address}${path}`)).json()) as Record<string, unknown>;
    expect(await get('/version')).toEqual({
      service: 'compat',
      version: '0.0.0',
      channel: 'stable',
      sha: 'unknown',
      started_at: expect.any(Number) as number,
      node: process.versions.node,
    });
    const { paths } = (await get('/openapi.json')) as { paths: Record<string, Record<string, { summary: string }>> };
    expect(Object.keys(paths)).toContain('/v1/chat/completions');
    for (const operations of Object.values(paths))
      for (const { summary } of Object.values(operations)) expect(summary).not.toBe('');
  });

  test('answers with and without streaming, and sends heartbeats', async () => {
    expect((await ask()).choices[0]?.message.content).toBe('hello');
    expect(await stream()).toEqual({ text: 'hello', error: undefined });
    expect(core.connections).toBe(1);
    await forked.message('heartbeat');
    expect(forked.output()).not.toContain(key);
  });

  test('continues its turns after a restart of the core', async () => {
    const begun = Promise.withResolvers<void>();
    answer = (call) => {
      call.reply({ frame: { type: 'delta', text: 'half ' } });
      if (core.calls.length === 2) begun.resolve();
    };
    const turns = [stream(), ask()];
    await begun.promise;
    await core.stop();
    answer = (call) => {
      expect(call.request).toMatchObject({ again: true });
      call.reply({ frame: { type: 'delta', text: 'half and ' } }, { frame: { type: 'delta', text: 'half' } });
      call.reply({ result: result('half and half') });
    };
    await startCore();
    expect(await turns[0]).toEqual({ text: 'half and half', error: undefined });
    expect(await turns[1]).toMatchObject({ choices: [{ message: { content: 'half and half' } }] });
  });

  test('ends the stream with an error when a repeated turn answers differently after a reconnect', async () => {
    answer = (call) => {
      if (core.calls.length > 1)
        return call.reply({ frame: { type: 'delta', text: 'other' } }, { result: result('other words') });
      call.reply({ frame: { type: 'delta', text: 'half' } });
      setImmediate(() => core.breakLinks());
    };
    const { text, error } = await stream();
    expect(text).toBe('half');
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ code: 'stream_interrupted', error: { message: expect.stringMatching(/Idempotency-Key/) } });
  });

  test('answers 503 with the reason while the core is down', async () => {
    await core.stop();
    await expect(ask()).rejects.toMatchObject({
      status: 503,
      code: 'unavailable',
      error: { message: expect.stringMatching(/cannot be reached/) },
    });
  });

  test('finishes a running turn before it stops', async () => {
    const held: LinkCall[] = [];
    answer = (call) => void held.push(call);
    const turn = ask();
    await expect.poll(() => held).toHaveLength(1);
    forked.send({ type: 'stop' });
    await expect.poll(() => forked.output()).toContain('stopping');
    held[0]?.reply({ result: result('just in time') });
    expect((await turn).choices[0]?.message.content).toBe('just in time');
    await expect(forked.exit).resolves.toEqual({ code: 0, signal: null });
  });
});
