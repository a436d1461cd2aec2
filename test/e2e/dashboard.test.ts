import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { skipNote } from '@svc/testing/skip-note.ts';
import {
  type Account,
  codeOf,
  type Dashboard,
  isLive,
  newSetupLink,
  openDashboard,
  setUp,
  signIn,
  tokensOf,
} from './dashboard/open-dashboard.ts';
import { openBrowser, say, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();

/** All of it is real: the service, its engine that needs no model, the dashboard as a process of its own, the pages in Debian's Chromium. */
describe.skipIf(why !== null)(`the dashboard${skipNote(why)}`, () => {
  let dashboard: Dashboard;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let account: Account;
  let faults: string[];

  beforeAll(async () => {
    browser = await openBrowser([], 'dashboard');
    dashboard = await openDashboard();
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    page = await context.newPage();
    faults = watch(page);
    account = await setUp(page, dashboard);
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.house.stop();
  });
  const lastReply = (shown: Page = page) => shown.locator('.reply').last().textContent();

  test('[1] a set-up link is good once, and a reload goes on where it stood', async () => {
    const other = await browser.newPage();
    await other.goto(newSetupLink(dashboard));
    await other.getByText('This link has expired').waitFor();
    await other.close();
    expect(faults).toEqual([]);
  });

  test('a message is answered by the engine, and is there after a reload', async () => {
    await page.goto(`${dashboard.url}/chat`);
    await isLive(page);
    await say(page, 'count 3');
    await expect.poll(() => lastReply()).toMatch(/1\s*2\s*3/);
    await page.reload();
    await expect.poll(() => lastReply()).toMatch(/1\s*2\s*3/);
    expect(faults).toEqual([]);
  });

  test('its session is listed, and opens', async () => {
    await page.goto(`${dashboard.url}/sessions`);
    await page.locator('.row-link').first().click();
    await expect.poll(() => lastReply()).toMatch(/1\s*2\s*3/);
    expect(faults).toEqual([]);
  });

  test('a session of another channel is watched while it runs, and steered', async () => {
    const key = 'compat:compat:session:steered';
    const said = dashboard.house.post(`${dashboard.house.urls.core}/v2/handle`, {
      channel: 'compat',
      conversation_key: key,
      sender: { raw_id: 'owner' },
      content: { text: 'wait 3 the first words' },
    });
    await expect
      .poll(async () => (await fetch(`${dashboard.house.urls.core}/v2/session/${encodeURIComponent(key)}`)).status)
      .toBe(200);
    await page.goto(`${dashboard.url}/sessions/${encodeURIComponent(key)}`);
    await page.getByLabel(/Steer as operator; the reply goes to compat/).fill('count 2');
    await page.getByRole('button', { name: /Say/ }).first().click();
    await expect.poll(() => lastReply()).toMatch(/1\s*2/);
    expect((await said).status).toBe(200);
    expect(faults).toEqual([]);
  });

  test('who signs out is out in every call, and signs in again with a new code', async () => {
    const tokens = await tokensOf(context, page);
    await page.getByRole('button', { name: /Sign out/ }).click();
    await page.getByLabel('Password').waitFor();
    const headers = { cookie: tokens.cookie, 'x-session-token': tokens.token };
    expect((await fetch(`${dashboard.url}/core/v2/sessions`, { headers })).status).toBe(401);
    await signIn(page, account, codeOf(account.secret, 1));
    await isLive(page);
    expect(faults).toEqual([]);
  });
});
