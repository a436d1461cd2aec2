import { ServiceError } from '@svc/connector-kit';
import { fakeContext } from '@svc/connector-kit/testing';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { describe, expect, test, onTestFinished } from 'vitest';
import { createOutboundServer } from './outbound-server.ts';

const secret = 'the-key-of-a-program';

async function openServer(key: string | null = secret) {
  const folder = temporaryFolder();
  const sent: unknown[] = [];
  const { context, saved } = fakeContext({ type: 'messenger', dataDir: folder.path, config: {} });
  const send = async (message: object) => void sent.push(message);
  const server = createOutboundServer(context, {
    send,
    key,
    checkTarget(target) {
      if (target === '666') throw new ServiceError('unprocessable', 'Not there.');
    },
    keyOf: (target) => `messenger:inst_1:user:${target}`,
    maxFileBytes: 1000,
  });
  const { url } = await server.listen(0, '127.0.0.1');
  onTestFinished(async () => {
    await server.stop(1000);
    folder.remove();
  });
  const post = async (path: string, body: object | string, headers: Record<string, string> = {}) => {
    const isText = typeof body === 'string';
    const given = { authorization: `Bearer ${secret}`, 'content-type': isText ? 'image/png' : 'application/json', ...headers };
    const answer = await fetch(url + path, { method: 'POST', headers: given, body: isText ? body : JSON.stringify(body) });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  return { post, sent, saved, url };
}

describe('outbound server', () => {
  test('sends texts, also to a topic, under the given id', async () => {
    const { post, sent } = await openServer();
    expect(await post('/send', { chat_id: -1001, topic_id: 5, text: 'hi', id: 'mine' })).toMatchObject({
      status: 200,
      body: { ok: true, id: 'mine' },
    });
    const { body } = await post('/send', { chat_id: '42', text: 'hi' });
    expect(sent).toEqual([
      { id: 'mine', target: '-1001:5', kind: 'text', text: 'hi' },
      { id: body['id'], target: '42', kind: 'text', text: 'hi' },
    ]);
  });

  test('sends files by path or from the body', async () => {
    const { post, sent, saved } = await openServer();
    await post('/send-photo?chat_id=42&name=a.png&caption=and', 'bytes');
    const path = saved[0]?.path;
    await post('/send-document', { chat_id: 42, path, caption: 'look' });
    expect(sent).toMatchObject([
      { target: '42', kind: 'photo', path, caption: 'and' },
      { target: '42', kind: 'document', path, caption: 'look' },
    ]);
    expect(saved.map(({ name, mime, content }) => [name, mime, content.toString()])).toEqual([['a.png', 'image/png', 'bytes']]);
  });

  test('stores no file for a chat that is not allowed', async () => {
    const { post, saved, sent } = await openServer();
    expect((await post('/send-document?chat_id=666&name=a.png', 'bytes')).status).toBe(422);
    expect([saved, sent]).toEqual([[], []]);
  });

  test.each([
    ['/send', {}],
    ['/send', []],
    ['/send', { chat_id: 42 }],
    ['/send', { chat_id: 42, text: ' ' }],
    ['/send', { chat_id: 42, text: 'x', id: 'a b' }],
    ['/send', { chat_id: 42, text: 'x', id: 7 }],
    ['/send-photo', { chat_id: 42 }],
    ['/send-photo', { chat_id: 42, path: '/a', caption: 7 }],
    ['/send-photo?chat_id=42', 'bytes'],
    ['/send-photo?chat_id=42&name=../a', 'bytes'],
    ['/send-photo?name=a', 'bytes'],
  ])('rejects %s %j with 400', async (path, body) => {
    const { post, sent } = await openServer();
    const { status, body: said } = await post(path, body);
    expect([status, said['error'], sent]).toEqual([400, 'bad_request', []]);
  });

  test.each(['x', '42:', '42:x', '1e5', '{}', ''])('rejects the target %j', async (chat_id) => {
    const { post, sent } = await openServer();
    expect((await post('/send', { chat_id, text: 'x' })).status).toBeGreaterThanOrEqual(400);
    expect(sent).toEqual([]);
  });

  test('rejects a file that does not exist', async () => {
    const { post, sent } = await openServer();
    const { status } = await post('/send-document', { chat_id: 42, path: '/no/such/file' });
    expect([status >= 400, sent]).toEqual([true, []]);
  });

  test('rejects a file that is too large', async () => {
    const { post, sent } = await openServer();
    expect([(await post('/send-photo?chat_id=42&name=a.png', 'x'.repeat(1001))).status, sent]).toEqual([413, []]);
  });

  test('rejects requests without a valid key or from another site', async () => {
    const { post, sent, url } = await openServer();
    const closed = await openServer(null);
    for (const path of ['/send', '/send-photo', '/send-document'])
      for (const headers of [{ authorization: '' }, { authorization: 'Bearer wrong' }])
        expect((await post(path, {}, headers)).status).toBe(401);
    expect(await closed.post('/send', { chat_id: 42, text: 'x' })).toMatchObject({
      status: 401,
      body: { message: expect.stringContaining('send_key_secret_key') },
    });
    expect((await post('/send', { chat_id: 42, text: 'x' }, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await fetch(`${url}/out`, { method: 'POST', headers: { authorization: `Bearer ${secret}` } })).status).toBe(401);
    expect([sent, closed.sent]).toEqual([[], []]);
  });
});
