import fc from 'fast-check';
import { expect, test } from 'vitest';
import { restateRefusal } from './endpoint-refusal.ts';

const endpoint = 'http://127.0.0.1:1/v1';
const now = Date.UTC(2026, 0, 1);
const restate = (status: number, body: string, headers = {}) => restateRefusal({ status, headers, body }, endpoint, now);

test.each([
  [404, '404 page not found'],
  [404, '{"detail":"Not Found"}'],
  [404, '{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}'],
  [405, '{"detail":"Method Not Allowed"}'],
])('reports a missing route (%i %s) as an error that is not retried', (status, body) => {
  const said = restate(status, body);
  expect(said.status).toBe(400);
  expect(said.body).toContain(`${endpoint} answers, but has no /responses (${status})`);
});

test('keeps the error of an unknown model', () => {
  const body = '{"error":{"message":"model `x` not found"}}';
  expect(restate(404, body)).toMatchObject({ status: 404, body });
});

test.each(['3600', new Date(now + 3_600_000).toUTCString()])(
  'reports a limit that ends much later (%s) as used up until then',
  (after) => {
    const said = restate(429, '{"error":{"message":"slow down"}}', { 'retry-after': after });
    const end = now / 1000 + 3600;
    expect(JSON.parse(said.body)).toEqual({ error: { type: 'usage_limit_reached', message: 'slow down', resets_at: end } });
    expect(said.headers).toMatchObject({ 'x-codex-primary-reset-at': String(end) });
    expect(said.headers).not.toHaveProperty('retry-after');
  },
);

test('leaves a short wait to codex', () => {
  expect(restate(429, '{"error":{"message":"slow down"}}', { 'retry-after': '2' }).headers['retry-after']).toBe('2');
});

test('reduces an error page to one line', () => {
  const said = restate(500, `<html>${'x'.repeat(10_000)}</html>`);
  expect(JSON.parse(said.body)).toEqual({ error: { message: `${endpoint} answered with an error (500)` } });
});

test('any refusal becomes a JSON error, and never makes codex wait long', () => {
  fc.assert(
    fc.property(fc.integer({ min: 400, max: 599 }), fc.oneof(fc.string(), fc.json()), fc.string(), (status, body, after) => {
      const said = restate(status, body, { 'retry-after': after });
      expect(JSON.parse(said.body)).toHaveProperty('error');
      expect(Number(said.headers['retry-after'] ?? 0)).toBeLessThanOrEqual(10);
    }),
  );
});
