import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { openPostboxBench } from './open-postbox-bench.ts';

const bench = openPostboxBench();
const { create } = bench;
const call = (id: string, body: object) => bench.manager.call('POST', `/instances/${id}/call`, body);
const called = (id: string) => readFileSync(path.join(bench.manager.dataDir, 'instances', id, 'called'), 'utf8');

describe('a call into an instance', () => {
  test('returns the answer of the connector, with secrets masked in both directions', async () => {
    const { id } = await create({}, { token_secret: 'POSTBOX' });
    expect(
      await call(id, { target: 'phone', method: 'look', params: { a: [1, 'bot-token-of-the-postbox'], b: null } }),
    ).toMatchObject({
      status: 200,
      body: { ok: true, result: { target: 'phone', params: { a: [1, '[redacted:secret]'], b: null } } },
    });
    expect(await call(id, { method: 'look' })).toMatchObject({ body: { result: { target: '', params: {} } } });
  });

  test('returns the reason of a refusal without secrets, and is not repeated', async () => {
    const { id } = await create({}, { token_secret: 'POSTBOX' });
    const refused = await call(id, { method: 'refuse' });
    expect(refused).toMatchObject({ status: 422, body: { message: expect.stringContaining('The person said no') } });
    const failed = await call(id, { method: 'fail' });
    expect(failed.status).toBe(502);
    expect(JSON.stringify([refused, failed])).not.toContain('bot-token-of-the-postbox');
    expect(called(id)).toBe('refuse\nfail\n');
  });

  test('times out, and aborts the work of the connector', async () => {
    const { id } = await create();
    expect(await call(id, { method: 'wait', timeout_ms: 300 })).toMatchObject({ status: 504 });
    await expect.poll(() => called(id)).toBe('wait\ngiven up\n');
  });

  test('is aborted when its caller disconnects', async () => {
    const { id } = await create();
    const url = await bench.manager.app.listen({ port: 0, host: '127.0.0.1' });
    const request = http.request(`${url}/instances/${id}/call`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    request.on('error', () => undefined).end(JSON.stringify({ method: 'wait' }));
    await expect.poll(() => called(id)).toBe('wait\n');
    request.destroy();
    await expect.poll(() => called(id)).toBe('wait\ngiven up\n');
  });

  test('fails when the instance dies during it', async () => {
    const { id } = await create();
    expect(await call(id, { method: 'die' })).toMatchObject({ status: 502 });
  });

  test('fails when the result is over the size limit', async () => {
    const { id } = await create();
    expect((await call(id, { method: 'flood' })).status).toBeGreaterThanOrEqual(400);
  });

  test('is refused by an instance that is stopped or offers no methods', async () => {
    const { id } = await create({ enabled: false });
    expect((await call(id, { method: 'look' })).status).toBe(409);
    const silent = await create({}, { silent: true });
    expect((await call(silent.id, { method: 'look' })).status).toBe(409);
  });

  test('is refused at once while 16 others are running', async () => {
    const { id } = await create();
    const answers = await Promise.all(Array.from({ length: 17 }, () => call(id, { method: 'wait', timeout_ms: 3000 })));
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 504)).toHaveLength(16);
  });
});

describe('a call into an instance', () => {
  const shared = bench.share();
  test.each([
    ['an instance that is not there', 'nobody', { method: 'look' }, 404],
    ['a method that its type does not list', null, { method: 'reboot' }, 404],
    ['a method that every object has', null, { method: 'constructor' }, 404],
    ['an invalid name', null, { method: '../out' }, 400],
    ['no method', null, {}, 400],
    ['params that are no object', null, { method: 'look', params: ['a'] }, 400],
    ['a target with control characters', null, { method: 'look', target: 'a\nb' }, 400],
    ['a longer time than there is', null, { method: 'look', timeout_ms: 60_001 }, 400],
    ['a field more', null, { method: 'look', as: 'owner' }, 400],
    ['too much', null, { method: 'look', params: { a: 'x'.repeat(300_000) } }, 413],
  ])('is refused for %s', async (_what, named, body, status) => {
    const id = named ?? shared().id;
    expect((await call(id, body)).status).toBe(status);
  });
});
