import { createHash } from 'node:crypto';
import { CoreError } from '@svc/connector-kit';
import { expect, test } from 'vitest';
import { openGateway } from './open-gateway.ts';

test('an uploaded file can be attached by its device alone', async () => {
  const gateway = await openGateway();
  const [ann, bob] = [await gateway.device('Ann'), await gateway.device('Bob')];
  const upload = await gateway.json(
    ann.token,
    'POST',
    '/gw/upload?filename=a.txt&mime=text/plain',
    new TextEncoder().encode('hello'),
  );
  const { path: file } = upload.body['file'] as { path: string };
  const message = { text: 'look', message_id: 'm1', attachments: [file] };
  expect((await gateway.json(bob.token, 'POST', '/gw/turn', message)).status).toBe(403);
  expect((await gateway.json(ann.token, 'POST', '/gw/turn', { ...message, attachments: ['/etc/passwd'] })).status).toBe(403);
  expect((await gateway.json(ann.token, 'POST', '/gw/turn', message)).status).toBe(202);
  expect(gateway.core().turns.map(({ envelope }) => envelope.content.attachments)).toEqual([
    [expect.objectContaining({ path: file, name: 'a.txt' })],
  ]);
});

test('serves a file of a conversation to its device alone, as a sandboxed attachment', async () => {
  const gateway = await openGateway();
  const [phone, other] = [await gateway.device('Phone'), await gateway.device('Other')];
  const key = (id: string) => `device:inst_1:device:${id}`;
  const saved = await gateway.fake().context.uploads.save({
    name: 'page.html',
    mime: 'text/html',
    data: Buffer.from('<script>alert(1)</script>'),
    conversation_key: key(phone.device.id),
  });
  const where = `/gw/file?path=${encodeURIComponent(saved.path)}`;
  const answer = await gateway.ask(phone.token, 'GET', where);
  expect(await answer.text()).toBe('<script>alert(1)</script>');
  expect([answer.status, answer.headers.get('content-disposition'), answer.headers.get('content-security-policy')]).toEqual([
    200,
    'attachment',
    "sandbox; default-src 'none'",
  ]);
  expect((await gateway.ask(other.token, 'GET', where)).status).toBe(403);
  gateway.core().sessions.history = () =>
    Promise.reject(new CoreError('forbidden', 'This is the conversation of another person.', { mayHaveRun: false }));
  const theirs = `${where}&conversation_key=${encodeURIComponent(key(phone.device.id))}`;
  expect((await gateway.ask(other.token, 'GET', theirs)).status).toBe(403);
  expect((await gateway.ask(null, 'GET', where)).status).toBe(401);
  expect((await gateway.ask(phone.token, 'GET', '/gw/file')).status).toBe(400);
});

test('a chunked upload accepts its chunks in any order, and belongs to its device alone', async () => {
  const gateway = await openGateway();
  const [phone, other] = [await gateway.device('Phone'), await gateway.device('Other')];
  const content = Buffer.from('0123456789abcdefghij');
  const begun = await gateway.json(phone.token, 'POST', '/gw/uploads', { filename: 'film.bin', size: content.length });
  expect(begun).toMatchObject({ status: 200, body: { ok: true, chunk_size: 8, chunks: 3, received: [] } });
  const at = `/gw/uploads/${begun.body['upload_id'] as string}`;
  const put = async (token: string, index: number, headers = {}) =>
    (await gateway.ask(token, 'PUT', `${at}?index=${index}`, content.subarray(index * 8, index * 8 + 8), headers)).status;
  const digest = createHash('sha256').update(content.subarray(16)).digest('hex');
  expect([
    await put(phone.token, 2, { 'x-chunk-sha256': digest }),
    await put(phone.token, 0, { 'x-chunk-sha256': digest }),
  ]).toEqual([200, 422]);
  for (const [method, body] of [
    ['GET', undefined],
    ['POST', {}],
    ['DELETE', undefined],
  ] as const)
    expect((await gateway.ask(other.token, method, at, body)).status).toBe(404);
  expect(await put(other.token, 0)).toBe(404);
  expect((await gateway.json(phone.token, 'GET', at)).body).toMatchObject({ received: [2] });
  expect((await gateway.ask(phone.token, 'POST', at, {})).status).toBe(409);
  expect([await put(phone.token, 0), await put(phone.token, 1)]).toEqual([200, 200]);
  const { body } = await gateway.json(phone.token, 'POST', at, {});
  expect(gateway.fake().saved.at(-1)?.content).toEqual(content);
  const attachments = [(body['file'] as { path: string }).path];
  const says = (token: string) =>
    gateway.ask(token, 'POST', '/gw/turn', { text: '', message_id: `m-${token.length}`, attachments });
  expect([(await says(other.token)).status, (await says(phone.token)).status]).toEqual([403, 202]);
  expect((await gateway.ask(phone.token, 'PUT', at, Buffer.from('x'))).status).toBe(400);
});
