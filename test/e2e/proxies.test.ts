import path from 'node:path';
import { connect } from 'node:tls';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { within } from '@svc/service-kit/within.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { read } from '../repository.ts';
import { type Account, type Dashboard, isLive, openDashboard, setUp, signIn } from './dashboard/open-dashboard.ts';
import { addAuthenticator } from './dashboard/virtual-authenticator.ts';
import { openBrowser, say, watch, whyNoBrowser } from './device-app/browser.ts';
import { makeCertificate, whyNoCertificate } from './proxies/certificate.ts';
import { startProtectedProgram } from './proxies/protected-program.ts';
import { type Proxy, type ProxyName, startProxy, whyNoProxy } from './proxies/start-proxy.ts';

const host = 'svc.test';
const why = whyNoBrowser() ?? whyNoCertificate();

/** The configurations of docs/proxies.md, run by the real programs, with a browser in front and the running service behind. */
describe.skipIf(why !== null)(`behind a reverse proxy${skipNote(why)}`, () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let files: ReturnType<typeof makeCertificate>;
  let dashboard: Dashboard;
  let browser: Browser;
  let other: Awaited<ReturnType<typeof startProtectedProgram>>;
  let account: Account | undefined;

  beforeAll(async () => {
    folder = temporaryFolder();
    files = makeCertificate(folder.path, host);
    const trusted = [`--host-resolver-rules=MAP ${host} 127.0.0.1`, `--ignore-certificate-errors-spki-list=${files.pin}`];
    browser = await openBrowser(trusted, 'dashboard');
    dashboard = await openDashboard({ SVC_ALLOWED_HOSTS: host });
    other = await startProtectedProgram();
  });
  afterAll(async () => {
    await browser?.close();
    await other?.close();
    await dashboard?.house.stop();
    folder?.remove();
  });

  describe.each<ProxyName>(['nginx', 'caddy'])('%s', (name) => {
    const whyNot = whyNoProxy(name);
    const run = test.skipIf(whyNot !== null);
    const because = skipNote(whyNot);
    let proxy: Proxy;
    let context: BrowserContext;
    let page: Page;
    let faults: string[];
    let outside: string;
    let inside: string;

    beforeAll(async () => {
      if (whyNot !== null) return;
      const [own = 0, theirs = 0] = await freePorts(2);
      [inside, outside] = [`https://${host}:${own}`, `https://${host}:${theirs}`];
      const { house, url } = dashboard;
      const behind = { dashboard: Number(new URL(url).port), core: Number(new URL(house.urls.core).port), other: other.port };
      const ports = { dashboard: own, other: theirs };
      proxy = await startProxy(name, path.join(folder.path, name), { host, ports, behind, ...files });
      context = await browser.newContext();
      page = await context.newPage();
      faults = watch(page);
      await addAuthenticator(page);
    });
    afterAll(async () => {
      await proxy?.stop();
      // Chromium may keep a context whose pages wait for an answer; it ends with the browser.
      if (context !== undefined) await within(context.close(), 10_000);
    });

    /** Requests the other program through the proxy. `seen`: the headers of the requests that reached it. */
    async function reached(headers: Record<string, string> = {}) {
      other.seen.length = 0;
      const answer = await ask(outside, headers);
      return { ...answer, seen: [...other.seen] };
    }
    const ownCookies = async () => ({
      cookie: (await context.cookies(inside)).map((cookie) => `${cookie.name}=${cookie.value}`).join('; '),
    });

    run(`a visitor without a login is redirected to the sign-in, whatever user names the request has${because}`, async () => {
      const tries: Record<string, string>[] = [
        {},
        { 'remote-user': 'Anna' },
        { remote_user: 'Anna' },
        { cookie: '__Host-svc-login=x' },
      ];
      for (const headers of tries)
        expect(await reached(headers)).toMatchObject({ status: 302, location: `${inside}/login`, seen: [] });
      await page.goto(outside);
      await page
        .getByText(/Sign in|No login yet/)
        .first()
        .waitFor();
      expect(page.url()).toBe(`${inside}/login`);
    });

    run(`signing in works over https, with cookies that are bound to the host${because}`, async () => {
      if (account === undefined) account = await setUp(page, { ...dashboard, url: inside });
      else {
        await page.goto(`${inside}/login`);
        await signIn(page, account, account.recoveryCodes.pop() ?? '');
        await isLive(page);
      }
      const cookies = await context.cookies(inside);
      expect(cookies.map((cookie) => cookie.name)).toContain('__Host-svc-login');
      for (const cookie of cookies) expect(cookie).toMatchObject({ secure: true, httpOnly: true, sameSite: 'Strict', path: '/' });
      expect(faults).toEqual([]);
    });

    run(`a reply arrives while its stream is open, and a file of 3 MB is uploaded${because}`, async () => {
      await page.goto(`${inside}/chat`);
      await isLive(page);
      await say(page, 'count 3');
      await expect.poll(() => page.locator('.reply').last().textContent()).toMatch(/1\s*2\s*3/);
      const size = 3_000_000; // more than either proxy takes by itself
      const sent = await page.evaluate(`fetch('/core/v2/upload?filename=a.bin', {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream', 'x-session-token': localStorage.getItem('svc-session-token') },
        body: new Uint8Array(${size}),
      }).then((answer) => answer.json())`);
      expect(sent).toMatchObject({ ok: true, file: { bytes: size } });
    });

    run(`a passkey for this host name can be added and used to sign in${because}`, async () => {
      await page.goto(`${inside}/settings/account`);
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      await page.getByLabel('Name').fill(`Of ${name}`);
      await page.getByRole('button', { name: 'Add passkey' }).click();
      await page.getByText(`Of ${name}`).first().waitFor();
      await context.clearCookies();
      await page.goto(`${inside}/login`); // the browser offers it by itself
      await isLive(page);
      expect(faults.filter((fault) => !/401/.test(fault))).toEqual([]);
    });

    run(`the other program receives the true user and role, and no cookie of the login${because}`, async () => {
      await page.goto(outside);
      expect(await page.locator('body').textContent()).toBe('Protected, for Anna');
      const forged = await reached({
        ...(await ownCookies()),
        'remote-user': 'root',
        'remote-groups': 'root',
        remote_user: 'root',
      });
      expect(forged).toMatchObject({ status: 200, text: 'Protected, for Anna' });
      const [headers = {}] = forged.seen;
      expect(headers).toMatchObject({ 'remote-user': 'Anna', 'remote-groups': 'owner' });
      expect(headers['remote_user']).toBeUndefined();
      expect(headers.cookie ?? '').not.toContain('svc-login');
      const heard = await page.evaluate(`new Promise((resolve, reject) => {
        const socket = new WebSocket(location.origin.replace('https', 'wss'));
        socket.onmessage = ({ data }) => resolve(data);
        socket.onerror = () => reject(new Error('refused'));
      })`);
      expect(heard).toBe('for Anna');
    });

    run(`forwarding and user headers of a visitor give no access, at the proxy or past it${because}`, async () => {
      const forwarded = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http', 'x-forwarded-for': '127.0.0.1' };
      const places = [`${inside}/core/v2/sessions`, `${dashboard.url}/core/v2/sessions`];
      const named = { ...forwarded, 'remote-user': 'Anna', 'remote-groups': 'owner' };
      for (const place of places) expect((await ask(place, named)).status).toBe(401);
      expect((await ask(`${dashboard.house.urls.core}/v2/auth/verify`, named)).status).toBe(401);
    });

    run(`signing out ends access to the other program at once${because}`, async () => {
      await page.goto(inside);
      const own = await ownCookies();
      expect(await reached(own)).toMatchObject({ status: 200 });
      await page
        .getByRole('button', { name: /Sign out/ })
        .first()
        .click();
      await expect.poll(async () => (await reached(own)).status).toBe(302);
    });
  });
});

test('the configuration for Traefik asks the core about each request and drops user headers of the client', () => {
  const words = read('docs/proxies/traefik.yml').replaceAll(/\s+/g, ' ');
  for (const part of [
    'middlewares: [no-names, svc-login]',
    "no-names: headers: customRequestHeaders: Remote-User: '' Remote-Groups: ''",
    'forwardAuth: address: http://127.0.0.1:3023/v2/auth/verify',
    'authRequestHeaders: [Cookie] authResponseHeaders: [Remote-User, Remote-Groups]',
  ])
    expect(words).toContain(part);
});

type Answer = { status: number; location: string | undefined; text: string };

/** A request with headers that no browser would send. */
function ask(address: string, headers: Record<string, string> = {}): Promise<Answer> {
  const { protocol, port, pathname, host: named, hostname: servername } = new URL(address);
  const to = { host: '127.0.0.1', port: Number(port) };
  // The certificate is not checked here: the browser does that.
  const over = protocol === 'https:' ? { createConnection: () => connect({ ...to, servername, rejectUnauthorized: false }) } : {};
  return new Promise((resolve, reject) => {
    const request = http.request(
      { ...to, ...over, path: pathname, headers: { host: named, connection: 'close', ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, location: response.headers.location, text }));
      },
    );
    request.once('error', reject).end();
  });
}
