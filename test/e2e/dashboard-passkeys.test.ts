import { DatabaseSync } from 'node:sqlite';
import path from 'node:path';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allowedRoutes } from '@svc/dashboard/proxy/allowed-routes.ts';
import { runSvc } from '@svc/testing/run-svc.ts';
import {
  type Account,
  type Dashboard,
  isLive,
  newSetupLink,
  openDashboard,
  setUp,
  signIn,
  tokensOf,
} from './dashboard/open-dashboard.ts';
import { openBrowser, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();

/** Chromium’s own authenticator, as a finger on a laptop would be. The numbers are those of the study of the dashboard. */
describe.skipIf(why !== null)(`passkeys in the dashboard${why === null ? '' : ` (skipped: ${why})`}`, () => {
  let dashboard: Dashboard;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let cdp: CDPSession;
  let authenticatorId: string;
  let account: Account;
  let faults: string[];

  beforeAll(async () => {
    browser = await openBrowser([], 'dashboard');
    dashboard = await openDashboard();
    context = await browser.newContext();
    page = await context.newPage();
    faults = watch(page);
    cdp = await context.newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    const options = {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    } as const;
    ({ authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', { options }));
    account = await setUp(page, dashboard);
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.house.stop();
  });
  const open = (place: string) => page.goto(dashboard.url + place);
  const verified = (isUserVerified: boolean) => cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
  /** The page of the login may be gone at once: a passkey that is offered there signs in. */
  const signOut = async () => {
    const asked = page.waitForRequest((request) => request.isNavigationRequest() && new URL(request.url()).pathname === '/login');
    await page
      .getByRole('button', { name: /Sign out/ })
      .first()
      .click();
    await asked;
  };
  /** One that was not tried yet, so that a test can be tried again. */
  const recoveryCode = () => account.recoveryCodes.pop() ?? '';
  /** As if the second factor had been shown long ago. */
  const age = () => {
    const db = new DatabaseSync(path.join(dashboard.house.folder, 'login.db'));
    db.exec('UPDATE login_session SET proven_at = proven_at - 3600000');
    db.close();
  };

  test('[3] a passkey is added, and signs in without name and password; a finger that is not known does not', async () => {
    await open('/settings/account');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByLabel('Name').fill('Laptop');
    await page.getByRole('button', { name: 'Add passkey' }).click();
    await page.getByText('For localhost').waitFor();
    await verified(false);
    await signOut();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('No passkey was used').waitFor();
    await verified(true);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await isLive(page);
    expect(faults).toEqual([]);
  });

  test('[3] the browser offers it in the field of the name, too', async () => {
    await signOut();
    await isLive(page); // nobody has pressed anything
  });

  test('[8] guesses at the password do not keep it waiting', async () => {
    const strangers = await browser.newContext();
    const stranger = await strangers.newPage();
    await stranger.goto(`${dashboard.url}/login`);
    const guess = async (): Promise<number> => {
      const answer = stranger.waitForResponse('**/core/v2/auth/login');
      await signIn(stranger, { name: account.name, password: 'not the one at all' }, '000000');
      return (await answer).status();
    };
    await expect.poll(guess).toBe(429); // the wait doubles until a guess comes within it, on however slow a machine
    await stranger.getByText(/Try again in \d+ s/).waitFor();
    await verified(true);
    await signOut();
    await isLive(page);
    await strangers.close();
  });

  test('[13] it proves who acts when the second factor is too old', async () => {
    age();
    await open('/settings/account');
    await page.getByRole('button', { name: 'Make new recovery codes' }).click();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByText('I have kept them').waitFor();
    account.recoveryCodes = await page.locator('.codes code').allTextContents();
    expect(account.recoveryCodes).toHaveLength(10);
    await page.getByRole('button', { name: 'I have kept them' }).click();
    expect(faults).toEqual([]);
  });

  test('[10] another password signs every other browser out', async () => {
    const others = await browser.newContext();
    const other = await others.newPage();
    await other.goto(`${dashboard.url}/login`);
    await signIn(other, account, recoveryCode());
    await isLive(other);
    await open('/settings/account');
    await page.getByRole('button', { name: 'Change the password' }).click();
    /** Until the core has answered: with the dialog the button goes away, so another click would wait for it in vain. */
    const change = async (): Promise<number> => {
      const answer = page.waitForResponse('**/core/v2/auth/password');
      await page.getByRole('button', { name: 'Change password' }).click();
      return (await answer).status();
    };
    const next = `five other plain words ${account.recoveryCodes.length}`;
    await page.getByLabel('Current password').fill('not the one at all');
    await page.getByLabel('New password').fill(next);
    await expect.poll(change).toBe(401); // after 429 where an earlier try of this test has left a wait
    await page.getByLabel('Current password').fill(account.password);
    await expect.poll(change).toBe(200);
    account.password = next;
    await page.getByText('The password is changed').waitFor();
    await other.goto(`${dashboard.url}/sessions`);
    await other.getByLabel('Password').waitFor();
    await signIn(other, account, recoveryCode());
    await isLive(other);
    await others.close();
  });

  test('[4] at 127.0.0.1 it is refused in words', async () => {
    const elsewhere = await browser.newContext();
    const there = await elsewhere.newPage();
    const local = dashboard.url.replace('localhost', '127.0.0.1');
    await there.goto(`${local}/login`);
    await signIn(there, account, recoveryCode());
    await isLive(there);
    await there.goto(`${local}/settings/account`);
    await there.getByRole('button', { name: 'Add a passkey' }).click();
    await there.getByLabel('Name').fill('Here');
    await there.getByRole('button', { name: 'Add passkey' }).click();
    const fault = there.getByRole('dialog').locator('.fault');
    await fault.waitFor();
    expect(await fault.textContent()).toMatch(/localhost/);
    await elsewhere.close();
  });

  test('[13] nothing dangerous is done with a second factor of long ago', async () => {
    age();
    const { cookie, token } = await tokensOf(context, page);
    const headers = { cookie, 'x-session-token': token, origin: dashboard.url, 'content-type': 'application/json' };
    for (const { backend, method, path: place } of allowedRoutes.filter(({ isDangerous }) => isDangerous)) {
      const url = `${dashboard.url}/${backend}${place.replaceAll(/:\w+/g, 'x')}`;
      const answer = await fetch(url, { method, headers, body: method === 'GET' ? null : '{}' });
      expect([method, place, answer.status, await answer.json()]).toMatchObject([method, place, 403, { step_up: true }]);
    }
  });

  test('[9] `svc auth` lists where somebody is signed in, and signs one or all of them out', async () => {
    const env = { PATH: process.env['PATH'], HOME: dashboard.house.folder, SVC_DATA_DIR: dashboard.house.folder };
    const svc = (...words: string[]) => runSvc(['auth', ...words], { env });
    const others = await browser.newContext();
    const other = await others.newPage();
    await other.goto(`${dashboard.url}/login`);
    await signIn(other, account, recoveryCode());
    await isLive(other);
    const { cookie, token } = await tokensOf(others, other);
    const status = async () => {
      const headers = { cookie, 'x-session-token': token };
      return (await fetch(`${dashboard.url}/core/v2/sessions`, { headers })).status;
    };
    expect(await status()).toBe(200);
    const listed = JSON.parse((await svc('sessions', '--json')).out) as { sessions: { id: string }[] };
    expect((await svc('end', listed.sessions[0]?.id ?? '')).out).toContain('Signed out: 1');
    expect(await status()).toBe(401);
    expect(await svc('end', 'nobody')).toMatchObject({ code: 1, err: expect.stringContaining('./svc auth sessions') as string });
    expect((await svc('end')).code).toBe(2);
    expect((await svc('end', '--all')).code).toBe(0);
    expect((await svc('sessions')).out).toBe('Nobody is signed in.\n');
    await others.close();
  });

  test('[2] a set-up takes a passkey: refused, reloaded, and then signed in by it; at 127.0.0.1 it names the way there', async () => {
    const link = newSetupLink(dashboard, true);
    const others = await browser.newContext();
    const there = await others.newPage();
    await there.goto(link.replace('localhost', '127.0.0.1'));
    expect(await there.getByRole('link', { name: 'Open it there' }).getAttribute('href')).toBe(link);
    await others.close();

    await page.goto(link);
    await page.getByLabel('Name').fill('Berta');
    await page.getByLabel('Password').fill('four other plain words');
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByText('good at localhost alone').waitFor();
    await verified(false);
    await page.getByRole('button', { name: 'Make a passkey' }).click();
    await page.getByText('No passkey was used').waitFor();
    await page.reload();
    await page.locator('.key').waitFor();
    await verified(true);
    await page.getByRole('button', { name: 'Make a passkey' }).click();
    await page.getByRole('button', { name: 'Show the codes' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Show the codes' }).click();
    await page.locator('.codes').waitFor();
    const codes = await page.locator('.codes code').allTextContents();
    await page.getByLabel('Type one of them').fill(codes[0] ?? '');
    await page.getByRole('button', { name: 'Finish' }).click();
    await isLive(page);
    await signOut();
    await isLive(page); // by the passkey, which the browser offers
    expect(faults).toEqual([]);
  });
});
