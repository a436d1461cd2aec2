import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { OutboundMessage } from '@svc/contract/send.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { openPostboxBench } from './open-postbox-bench.ts';
import { eventually } from './waiting.ts';

const bench = openPostboxBench();
const { create, posted, send } = bench;

describe('a file', () => {
  const shared = bench.share();
  const uploads = () => path.join(bench.manager.dataDir, 'uploads');
  beforeEach(() => {
    mkdirSync(path.join(uploads(), 'folder'), { recursive: true });
    writeFileSync(path.join(uploads(), 'cat.png'), 'meow');
    writeFileSync(path.join(uploads(), 'list.txt'), 'one');
    writeFileSync(path.join(uploads(), 'manifest.jsonl'), '{}');
    mkdirSync(path.join(uploads(), '.staging'), { recursive: true });
    writeFileSync(path.join(uploads(), '.staging', 'half'), 'ha');
    writeFileSync(path.join(bench.manager.dataDir, 'secrets.json'), '{}', { mode: 0o600 });
    for (const [name, target] of [
      ['out', path.join(bench.manager.dataDir, 'secrets.json')],
      ['away', bench.manager.dataDir],
    ] as const) {
      try {
        symlinkSync(target, path.join(uploads(), name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
  });

  test.each([
    ['cat.png', 'photo'],
    ['list.txt', 'document'],
  ])('of the upload area is sent as a photo or a document by its type: %s', async (name, kind) => {
    const { id } = shared();
    const file = path.join(uploads(), name);
    expect((await send({ instance_id: id, target: 'b1', path: file, caption: 'look' })).status).toBe(200);
    expect(posted(id)).toMatchObject([{ kind, path: file, caption: 'look' }]);
  });

  test.each([
    ['elsewhere', '/etc/passwd', 403],
    ['of the service', '../secrets.json', 403],
    ['behind dots', 'folder/../../secrets.json', 403],
    ['behind a link', 'out', 403],
    ['in a folder behind a link', 'away/secrets.json', 403],
    ['that only begins alike', '../uploads-not/x', 403],
    ['that lists all uploads', 'manifest.jsonl', 403],
    ['that is not whole yet', '.staging/half', 403],
    ['elsewhere that is not there', '/nothing/at/all', 403],
    ['that is not there', 'gone.png', 400],
    ['that is a folder', 'folder', 400],
    ['with a zero byte in its name', 'cat.png\0.txt', 403],
  ])('[X02] %s is refused and reaches no connector', async (_, name, status) => {
    const { id } = shared();
    const file = name.startsWith('/') ? name : `${uploads()}/${name}`;
    const reply = await send({ instance_id: id, target: 'b1', path: file });
    expect(reply.status).toBe(status);
    expect(posted(id)).toEqual([]);
  });
});

describe('secrets', () => {
  test('[X05] of the service and of instances are masked in outgoing texts and errors', async () => {
    const { id } = await create({}, { token_secret: 'POSTBOX' });
    await send({ instance_id: id, target: 'b1', text: 'canary-insights-token and bot-token-of-the-postbox' });
    expect(posted(id)[0]?.text).not.toMatch(/canary|bot-token/);
    const { body } = await send({ instance_id: id, target: 'broken', text: 'x' });
    expect(body['message']).toContain('failed');
    expect(body['message']).not.toContain('bot-token');
  });

  test('that cannot be read block all sending', async () => {
    const { id } = await create();
    writeFileSync(path.join(bench.manager.dataDir, 'secrets.json'), 'broken', { mode: 0o600 });
    const refused = () => send({ instance_id: id, target: 'b1', text: 'x' });
    const { body } = await eventually(refused, ({ status }) => status === 503);
    expect(body).toMatchObject({
      delivered: false,
      message: expect.stringContaining('secrets.json is not valid JSON, so secrets could not be masked'),
    });
    writeFileSync(path.join(bench.manager.dataDir, 'secrets.json'), '{}', { mode: 0o600 });
    await eventually(refused, ({ status }) => status === 200);
  });

  test('shared by the manager and a connector are masked in logs', async () => {
    const { id } = await create();
    const { body } = await eventually(
      () => bench.manager.call('GET', `/instances/${id}/logs`),
      (reply) => JSON.stringify(reply.body).includes('my way in'),
    );
    expect(JSON.stringify(body)).toContain('my way in is [redacted:secret], my proof [redacted:secret]');
  });
});

describe('a connector’s /out', () => {
  const shared = bench.share();
  test.each([
    ['without the token', {}, 401],
    ['with a wrong one', { authorization: 'Bearer wrong' }, 401],
    ['from another site', { origin: 'https://evil.example' }, 403],
    ['under another name', { host: 'evil.example' }, 403],
  ])('[X06] refuses a request %s', async (_, headers, status) => {
    const { id, port } = shared();
    const url = `http://127.0.0.1:${port}`;
    const message: OutboundMessage = { id: 'x', target: 'b', kind: 'text', text: 'x' };
    expect((await requestJson(`${url}/out`, { body: message, headers, timeoutMs: 5000 })).status).toBe(status);
    expect((await requestJson(`${url}/channels`, { headers, timeoutMs: 5000 })).status).toBe(status);
    expect(posted(id)).toEqual([]);
  });
});
