import { DatabaseSync } from 'node:sqlite';
import path from 'node:path';
import type { Principal } from '@svc/contract/trust.ts';
import { http } from '@svc/service-kit/builtin.ts';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allowedRoutes } from '@svc/dashboard/proxy/allowed-routes.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import {
  type Account,
  codeOf,
  type Dashboard,
  isLive,
  newSetupLink,
  openDashboard,
  signIn,
  signUp,
  tokensOf,
} from './dashboard/open-dashboard.ts';
import { openNeighbour, tryingPage } from './dashboard/open-neighbour.ts';
import { openBrowser, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();

type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: string };

/** Attacks by other programs on this machine and by web pages; none gets access. */
describe.skipIf(why !== null)(`attacks on the dashboard${skipNote(why)}`, () => {
  let dashboard: Dashboard;
  let browser: Browser;
  let page: Page;
  let usedLink: string;
  let account: Account;
  let own: { cookie: string; 'x-session-token': string };

  beforeAll(async () => {
    browser = await openBrowser([], 'dashboard');
    dashboard = await openDashboard();
    page = await (await browser.newContext({ serviceWorkers: 'block' })).newPage();
    usedLink = newSetupLink(dashboard);
    account = await signUp(page, dashboard, usedLink);
    const { cookie, token } = await tokensOf(page.context(), page);
    own = { cookie, 'x-session-token': token };
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.house.stop();
  });

  /** A request as no browser would send it. */
  function send(method: string, place: string, headers: Record<string, string> = {}, body?: string): Promise<Answer> {
    const { port, host } = new URL(dashboard.url);
    return new Promise((resolve, reject) => {
      const request = http.request(
        { host: '127.0.0.1', port, method, path: place, headers: { host, ...headers } },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (part: string) => (text += part));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
        },
      );
      request.on('error', reject);
      request.end(body);
    });
  }
  const json = { 'content-type': 'application/json' };
  const sessions = '/core/v2/sessions';

  test('a login needs both the cookie and the token; neither alone gives access', async () => {
    expect((await send('GET', sessions, own)).status).toBe(200);
    expect((await send('GET', sessions, { cookie: own.cookie })).status).toBe(401);
    expect((await send('GET', sessions, { 'x-session-token': own['x-session-token'] })).status).toBe(401);
    expect((await send('GET', sessions, { cookie: own.cookie, 'x-session-token': 'x'.repeat(43) })).status).toBe(401);
  });

  test('rejects requests that name a person in a header or bring another kind of token', async () => {
    const tries: Record<string, string>[] = [
      { 'remote-user': account.name },
      { 'remote-user': account.name, 'x-svc-proof': 'a' },
      { authorization: 'Bearer x' },
    ];
    for (const headers of tries) expect((await send('GET', sessions, headers)).status).toBe(401);
  });

  test('[40] refuses a change with a missing or foreign Origin or Host, or with a content type of forms', async () => {
    const body = JSON.stringify({ conversation_key: 'web:Anna:main' });
    const origin = { origin: dashboard.url };
    const tries = [
      { ...own, ...json },
      { ...own, ...json, origin: 'https://evil.example' },
      { ...own, ...json, origin: `http://localhost:1` },
      { ...own, ...json, origin: 'null' },
      { ...own, ...json, ...origin, 'sec-fetch-site': 'same-site' },
      { ...own, ...json, ...origin, 'sec-fetch-site': 'cross-site' },
      { ...own, ...json, ...origin, host: 'evil.example' },
      { ...own, ...json, origin: 'https://evil.example', host: 'evil.example' },
      { ...own, ...json, origin: 'https://evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' },
    ];
    for (const headers of tries) expect((await send('POST', '/core/v2/abort', headers, body)).status).toBe(403);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=a'])
      expect((await send('POST', '/core/v2/abort', { ...own, ...origin, 'content-type': type }, body)).status).toBe(415);
    // A correct request reaches the core, which has no turn to abort.
    expect((await send('POST', '/core/v2/abort', { ...own, ...origin, ...json }, body)).status).toBe(404);
  });

  test('only the allowed routes can be reached, however the address is written', async () => {
    const places = [
      '/core/openapi.json',
      '/core/v2/handle',
      '/core',
      '/favicon.ico',
      '/.stamp',
      '/assets/../index.html',
      '/core/query',
      '/core/v2/auth/../sessions',
      '/core/v2/auth/..%2fsessions',
      '/core//v2/sessions',
      '/core/../core/v2/sessions',
      '/manager/../core/v2/sessions',
      '/collector/ingest',
      '//evil.example/core/v2/sessions',
    ];
    for (const place of places) {
      const { status, body } = await send('GET', place, own);
      expect([place, status, body.includes('"sessions"')]).toEqual([
        place,
        expect.toSatisfy((code: number) => code >= 400),
        false,
      ]);
    }
    const envelope = JSON.stringify({
      channel: 'shell',
      conversation_key: 'shell:root:x',
      sender: { raw_id: 'root' },
      content: { text: 'hi' },
    });
    expect((await send('POST', '/core/v2/handle', { ...own, ...json, origin: dashboard.url }, envelope)).status).toBe(404);
  });

  test('ignores method overrides in headers and in the query', async () => {
    const override = { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE', 'x-http-method': 'DELETE' };
    const headers = { ...own, ...json, ...override, origin: dashboard.url };
    const { body } = await send('GET', '/core/v2/auth/sessions', own);
    const { current } = JSON.parse(body) as { current: string };
    for (const method of ['POST', 'GET', 'PUT'])
      expect((await send(method, `/core/v2/auth/sessions/${current}?_method=DELETE`, headers)).status).toBeGreaterThanOrEqual(
        400,
      );
    expect((await send('HEAD', '/core/v2/auth/logout', headers)).status).toBe(404);
    expect((await send('GET', sessions, own)).status).toBe(200);
  });

  test('[40] a server on another port of the host receives the cookies but gets no access, nor does its page', async () => {
    const neighbour = await openNeighbour(tryingPage(dashboard.url));
    const visit = await page.context().newPage();
    const shown: string[] = [];
    visit.on('framenavigated', (frame) => void shown.push(frame.url()));
    await visit.goto(neighbour.url);
    expect(await visit.evaluate('results')).toEqual({
      read: 'refused',
      act: 'refused',
      shell: 'refused',
      framed: 'refused',
      included: 'refused',
    });
    expect(shown).not.toContain(`${dashboard.url}/`);
    const cookie = neighbour.cookies();
    expect(cookie).toContain('svc-login=');
    const paths = ['/v2/auth/sessions', '/v2/auth/passkeys', '/v2/auth/logout', '/v2/auth/step-up', '/v2/auth/recovery-codes'];
    const tries = [
      ...allowedRoutes.map(({ backend, method, path }) => ({ method, path: `/${backend}${path.replaceAll(/:\w+/g, 'x')}` })),
      ...paths.map((path, index) => ({ method: index < 2 ? 'GET' : 'POST', path: `/core${path}` })),
    ];
    for (const { method, path } of tries) {
      const headers = { cookie, ...json, origin: dashboard.url, 'remote-user': account.name };
      const { status } = await send(method, path, headers, method.startsWith('P') ? '{"code":"123456"}' : undefined);
      expect([method, path, status]).toEqual([method, path, 401]);
    }
    // A cookie that it has planted is sent before ours, and does not prevent the login.
    await page.goto(dashboard.url);
    await isLive(page);
    await page.context().clearCookies({ path: '/core' });
    await visit.close();
    await neighbour.close();
  });

  test('every allowed route exists in the OpenAPI document of its process', async () => {
    const { core, manager, collector } = dashboard.house.urls;
    const urls = { core, manager, collector };
    type Document = { paths: Record<string, Record<string, unknown>> };
    const documents = Object.fromEntries(
      await Promise.all(
        Object.entries(urls).map(async ([name, url]) => [name, await dashboard.house.get<Document>(`${url}/openapi.json`)]),
      ),
    ) as Record<string, Document>;
    const missing = allowedRoutes.filter(({ backend, method, path }) => {
      const written = path.replaceAll(/:(\w+)/g, '{$1}');
      return documents[backend]?.paths[written]?.[method.toLowerCase()] === undefined;
    });
    expect(missing.map(({ backend, method, path }) => `${backend}: ${method} ${path}`)).toEqual([]);
  });

  test('refuses a message that names a sender, a channel, or a conversation of another person', async () => {
    const headers = { ...own, ...json, origin: dashboard.url };
    const said = { message_id: 'abcdefgh-1', text: 'hi' };
    const refused = [
      { ...said, conversation_key: 'messenger:m:user:1' },
      { ...said, conversation_key: 'web:Annabel:main' },
      { ...said, conversation_key: 'web:Anna' },
      { ...said, conversation_key: 'web:Anna:main', sender: { raw_id: 'root' } },
      { ...said, conversation_key: 'web:Anna:main', channel: 'shell' },
    ];
    for (const body of refused) expect((await send('POST', '/chat/turn', headers, JSON.stringify(body))).status).toBe(400);
  });

  test('[11] the cookie is HttpOnly and SameSite=Strict, and answers are not cached', async () => {
    const cookies = await page.context().cookies();
    expect(cookies.map(({ name }) => name)).toContain('svc-login');
    for (const cookie of cookies) expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
    expect((await send('GET', sessions, own)).headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining('sandbox') as string,
      'x-content-type-options': 'nosniff',
    });
    const shell = await send('GET', '/');
    expect(shell.headers['cache-control']).toBe('no-store');
    expect(shell.headers['x-frame-options']).toBe('DENY');
    expect(shell.headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(shell.headers['content-security-policy']).not.toContain('unsafe');
    expect((await send('GET', '/assets/gone-12345678.js')).status).toBe(404);
  });

  test('[12] signing in never redirects to another site', async () => {
    // Every other way to write it: `apps/dashboard/app/src/entry/auth-api.test.ts`.
    const stranger = await browser.newContext({ serviceWorkers: 'block' });
    const shown = await stranger.newPage();
    await shown.goto(`${dashboard.url}/login?next=${encodeURIComponent('/x/..//evil.example')}`);
    await signIn(shown, account, account.recoveryCodes[4] ?? '');
    await isLive(shown);
    expect(shown.url()).toBe(`${dashboard.url}/`);
    await stranger.close();
  });

  test('[1] a set-up link works once, and a new one cannot set up a second login', async () => {
    const stranger = await browser.newContext({ serviceWorkers: 'block' });
    for (const link of [usedLink, newSetupLink(dashboard)]) {
      const shown = await stranger.newPage();
      await shown.goto(link);
      await shown.getByText('This link has expired').waitFor();
    }
    await stranger.close();
  });

  test('signing out ends the login for every call, and a new code signs in again', async () => {
    const context = await browser.newContext({ serviceWorkers: 'block' });
    const shown = await context.newPage();
    const faults = watch(shown);
    await shown.goto(`${dashboard.url}/login`);
    await signIn(shown, account, account.recoveryCodes[5] ?? '');
    await isLive(shown);
    const { cookie, token } = await tokensOf(context, shown);
    await shown.getByRole('button', { name: /Sign out/ }).click();
    await shown.getByLabel('Password').waitFor();
    expect((await send('GET', sessions, { cookie, 'x-session-token': token })).status).toBe(401);
    await signIn(shown, account, codeOf(account.secret, 1));
    await isLive(shown);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('a login with an old second factor cannot give a high role or erase a person, whatever its headers claim', async () => {
    const headers = { ...own, ...json, origin: dashboard.url, 'x-svc-second-factor': 'fresh', 'remote-user': 'local' };
    const core = `${dashboard.house.urls.core}/trust/principals`;
    await dashboard.house.post(core, { key: 'mallory', display_name: 'Mallory' });
    const give = (role_id: string) => send('POST', '/core/trust/principals/mallory/grants', headers, JSON.stringify({ role_id }));
    const db = new DatabaseSync(path.join(dashboard.house.folder, 'login.db'), { timeout: 10_000 });
    db.exec('UPDATE login_session SET proven_at = proven_at - 11 * 60000');
    db.close();
    for (const role of ['owner', 'trusted']) expect((await give(role)).status).toBe(403);
    expect((await send('POST', '/core/trust/principals/mallory/erase', headers, '{}')).status).toBe(403);
    expect((await give('guest')).status).toBe(200);
    const { grants } = await dashboard.house.get<Principal>(`${core}/mallory`);
    expect(grants.map(({ role }) => role)).toEqual(['guest']);
  });

  test('rate-limits password guesses, alike for known and unknown names', async () => {
    const headers = { ...json, origin: dashboard.url };
    const guess = (name: string) =>
      send('POST', '/core/v2/auth/login', headers, JSON.stringify({ name, password: 'a wrong one', code: '123456' }));
    const first = await guess('Anna');
    const second = await guess('Anna');
    const other = await guess('Nobody');
    expect([first.status, second.status, other.status]).toEqual([401, 429, 429]);
    expect(JSON.parse(second.body)).toMatchObject({ retry_after_s: expect.any(Number) as number });
  });
});
