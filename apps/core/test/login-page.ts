import { Secret, TOTP } from 'otpauth';
import { expect } from 'vitest';
import { makeSetupLink } from '@svc/service-kit/setup-link.ts';
import type { FakeClock } from '@svc/testing/fake-clock.ts';
import type { TestCore } from './open-test-core.ts';

export const origin = 'http://localhost:3020';
export const page = { origin, host: 'localhost:3020', 'sec-fetch-site': 'same-origin' };
export const password = 'correct horse battery staple';

export type Answer = Record<string, unknown> & { secret?: string; recovery_codes?: string[]; session_token?: string };
export type Login = { cookie: string; 'x-session-token': string };
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** The login as a page of ours uses it. */
export function loginPage(core: () => TestCore, clock: () => FakeClock) {
  async function ask(method: Method, url: string, payload: object | null, headers: Record<string, string> = {}) {
    const response = await core().app.inject({
      method,
      url: `/v2/auth/${url}`,
      ...(payload === null ? {} : { payload }),
      headers: { ...page, ...headers },
    });
    const cookies = [response.headers['set-cookie'] ?? []].flat();
    return {
      status: response.statusCode,
      body: response.json<Answer>(),
      cookie: cookies[0] ?? '',
      cookies,
      headers: response.headers,
    };
  }
  const call = (url: string, payload: object | null, headers: Record<string, string> = {}) =>
    ask(payload === null ? 'GET' : 'POST', url, payload, headers);

  const loginOf = ({ cookies, body }: { cookies: string[]; body: Answer }): Login => ({
    cookie: cookies[0]?.split(';')[0] ?? '',
    'x-session-token': body.session_token ?? '',
  });
  const codeOf = (secret: string, offsetMs = 0) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: clock().now() + offsetMs });
  const newLink = (resets = false) => ({ 'x-setup-token': makeSetupLink(core().context.paths.run, clock(), resets) });

  /** The first step, and what the browser shows from then on. */
  async function begin(link: { 'x-setup-token': string; cookie?: string }) {
    const answer = await call('setup/account', { name: 'anna', password }, link);
    return { ...answer, link: { ...link, cookie: answer.cookie.split(';')[0] ?? '' } };
  }

  async function setUp(link: { 'x-setup-token': string } = newLink()) {
    const { body, link: mine } = await begin(link);
    const secret = String(body.secret);
    expect((await call('setup/totp', { code: codeOf(secret) }, mine)).body).toMatchObject({ step: 'recovery' });
    const codes = (await call('setup/recovery-codes', {}, mine)).body.recovery_codes ?? [];
    const finished = await call('setup/finish', { code: codes[3]?.toLowerCase() }, mine);
    expect(finished.status).toBe(200);
    const device = finished.cookies[1]?.split(';')[0] ?? '';
    return { secret, codes, link: mine, login: loginOf(finished), device };
  }

  const signIn = (code: string, over: object = {}, headers: Record<string, string> = {}) =>
    call('login', { name: 'anna', password, code, ...over }, headers);
  const verify = async (login: Partial<Login>, query = '') => (await call(`verify${query}`, null, login)).status;

  return { ask, call, loginOf, codeOf, newLink, begin, setUp, signIn, verify };
}
