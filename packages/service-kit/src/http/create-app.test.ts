import { expect, test } from 'vitest';
import { createLog } from '../log.ts';
import { createApp } from './create-app.ts';

const app = createApp({
  service: 'test',
  version: { service: 'test', version: '1.0.0', channel: 'stable', sha: 'unknown', started_at: 0, node: '26' },
  log: createLog('test', 'silent'),
  allowedHosts: [],
  health: () => ({}),
  routes: () => undefined,
});

test.each(['/%', '/%ff', '/health/%ED%A0%80'])(
  'a URL that cannot be decoded (%s) is refused in the shape of every error',
  async (url) => {
    const response = await app.inject({ url });
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({
      ok: false,
      error: 'bad_request',
      request_id: expect.stringMatching(/^req_/) as string,
    });
  },
);

test('a foreign host learns no more from such a URL than from others', async () => {
  const response = await app.inject({ url: '/%', headers: { host: 'evil.example' } });
  expect(response.json()).toMatchObject({ error: 'bad_host' });
});
