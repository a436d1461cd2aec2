import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allowedRoutes } from '@svc/dashboard/proxy/allowed-routes.ts';
import { runSvc } from '@svc/testing/run-svc.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import {
  type Account,
  ageProof,
  codeOf,
  type Dashboard,
  isLive,
  loginTokens,
  newSetupLink,
  openDashboard,
  signUp,
  signIn,
  tokensOf,
} from './dashboard/open-dashboard.ts';
import { addAuthenticator } from './dashboard/virtual-authenticator.ts';
import { openBrowser, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();

/** The numbers are those of the study of the dashboard. */
describe.skipIf(why !== null)(`passkeys in the dashboard${skipNote(why)}`, () => {
  let dashboard: Dashboard;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let verified: Awaited<ReturnType<typeof addAuthenticator>>;
  let account: Account;
  let faults: string[];

  beforeAll(async () => {
    browser = await openBrowser([], 'dashboard');
    dashboard = await openDashboard();
    context = await browser.newContext({ serviceWorkers: 'block' });
    page = await context.newPage();
    faults = watch(page);
    verified = await addAuthenticator(page);
    account = await signUp(page, dashboard);
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.house.stop();
  });
  const open = (place: string) => page.goto(dashboard.url + place);
  /** The page of the login may be gone at once: a passkey that is offered there signs in. */
  const signOut = async () => {
    const asked = page.waitForRequest((request) => request.isNavigationRequest() && new URL(request.url()).pathname === '/login');
    await page
      .getByRole('button', { name: /Sign out/ })
      .first()
      .click();
    await asked;
  };
  /** An unused code, so that a test can be retried. */
  const recoveryCode = () => account.recoveryCodes.pop() ?? '';

  test('[3] adds a passkey, which signs in without name and password, but not when verification fails', async () => {
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

  test('[3] the browser also offers the passkey at the name field', async () => {
    await signOut();
    await isLive(page); // nobody has pressed anything
  });

  test('[8] guesses at the password do not delay a sign-in by passkey', async () => {
    const strangers = await browser.newContext({ serviceWorkers: 'block' });
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

  test('[13] a passkey renews a second factor that is too old', async () => {
    ageProof(dashboard);
    await open('/settings/account');
    await page.getByRole('button', { name: 'Make new recovery codes' }).click();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByText('I have stored them').waitFor();
    account.recoveryCodes = await page.locator('.codes code').allTextContents();
    expect(account.recoveryCodes).toHaveLength(10);
    await page.getByRole('button', { name: 'I have stored them' }).click();
    expect(faults).toEqual([]);
  });

  test('[10] changing the password signs out every other browser', async () => {
    const { cookie, token } = await loginTokens(dashboard, account, recoveryCode());
    const status = async () => {
      const headers = { cookie, 'x-session-token': token };
      return (await fetch(`${dashboard.url}/core/v2/sessions`, { headers })).status;
    };
    expect(await status()).toBe(200);
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
    expect(await status()).toBe(401);
    await loginTokens(dashboard, account, recoveryCode());
  });

  test('[4] adding a passkey at 127.0.0.1 is refused with a reason', async () => {
    const elsewhere = await browser.newContext({ serviceWorkers: 'block' });
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

  test('[13] every dangerous route refuses a login whose second factor is too old', async () => {
    ageProof(dashboard);
    const { cookie, token } = await tokensOf(context, page);
    const headers = { cookie, 'x-session-token': token, origin: dashboard.url, 'content-type': 'application/json' };
    for (const { backend, method, path: place } of allowedRoutes.filter(({ isDangerous }) => isDangerous)) {
      const url = `${dashboard.url}/${backend}${place.replaceAll(/:\w+/g, 'x')}`;
      const answer = await fetch(url, { method, headers, body: method === 'GET' ? null : '{}' });
      expect([method, place, answer.status, await answer.json()]).toMatchObject([method, place, 403, { step_up: true }]);
    }
  });

  test('[9] `svc auth` lists where people are signed in, and signs one or all of them out', async () => {
    const env = { PATH: process.env['PATH'], HOME: dashboard.house.folder, SVC_DATA_DIR: dashboard.house.folder };
    const svc = (...words: string[]) => runSvc(['auth', ...words], { env });
    const { cookie, token } = await loginTokens(dashboard, account, recoveryCode());
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
  });

  test('[2] set-up with a passkey continues after a refusal and after reloads; at 127.0.0.1 it links to localhost', async () => {
    const link = newSetupLink(dashboard, true);
    const others = await browser.newContext({ serviceWorkers: 'block' });
    const there = await others.newPage();
    await there.goto(link.replace('localhost', '127.0.0.1'));
    expect(await there.getByRole('link', { name: 'Open it there' }).getAttribute('href')).toBe(link);
    await others.close();

    await page.goto(link);
    account = { name: 'Berta', password: 'four other plain words', secret: '', recoveryCodes: [] };
    await page.getByLabel('Name').fill(account.name);
    await page.getByLabel('Password').fill(account.password);
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByText('works only at localhost').waitFor();
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
    account.recoveryCodes = await page.locator('.codes code').allTextContents();
    await page.getByLabel('Type one of them').fill(recoveryCode());
    await page.getByRole('button', { name: 'Finish' }).click();
    await isLive(page);
    await signOut();
    await isLive(page); // by the passkey, which the browser offers
    expect(faults).toEqual([]);
  });

  test('[3] an account with only a passkey adds an authenticator app, signs in with it, and removes it', async () => {
    ageProof(dashboard);
    await verified(true);
    await open('/settings/account');
    await page.getByRole('button', { name: /Add an authenticator app|Replace it/ }).click();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    const secret = ((await page.locator('.key').textContent()) ?? '').replaceAll(' ', '');
    const add = async (code: string): Promise<number> => {
      const answer = page.waitForResponse((one) => one.request().method() === 'POST' && one.url().endsWith('/v2/auth/totp'));
      await page.getByLabel('Code that the app shows').fill(code);
      await page.getByRole('button', { name: /^(Add|Replace) app$/ }).click();
      return (await answer).status();
    };
    expect(await add('no code')).toBe(400);
    await page.getByText('This code is wrong').waitFor();
    await expect.poll(() => add(codeOf(secret))).toBe(200); // after 429, for the wrong one
    await page.getByText('One is set').waitFor();
    await verified(false); // what the page of the login is offered signs nobody in
    await signOut();
    await signIn(page, account, codeOf(secret, 1));
    await isLive(page);
    await open('/settings/account');
    await page.getByRole('button', { name: 'Remove it' }).click();
    await page.getByRole('button', { name: 'Remove authenticator app' }).click();
    await page.getByText('None is set. With one you sign in with your password').waitFor();
    expect(faults).toEqual([]);
  });
});
