import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Dashboard, isLive, openDashboard, setUp } from './dashboard/open-dashboard.ts';
import { screensWith } from './dashboard/screens.ts';
import { watchWords } from './dashboard/words-left.ts';
import { openBrowser, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();
const own = '/sessions/web%3AAnna%3Amain';
const others = '/sessions/compat%3Acompat%3Asession%3A0';
const screens = [...new Set([...screensWith(own), ...screensWith(others)]), '/nothing/is/here'];

/** In the pseudo-language en-XA, whose texts stand in brackets, nothing is left that no other language could have. */
describe.skipIf(why !== null)(`the words of the dashboard${why === null ? '' : ` (skipped: ${why})`}`, () => {
  let dashboard: Dashboard;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let words: Awaited<ReturnType<typeof watchWords>>;
  let faults: string[];

  beforeAll(async () => {
    browser = await openBrowser([], 'dashboard');
    dashboard = await openDashboard();
    context = await browser.newContext({ locale: 'en-XA' });
    words = await watchWords(context);
    page = await context.newPage();
    faults = watch(page);
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.house.stop();
  });

  const handle = (body: object) => dashboard.house.post(`${dashboard.house.urls.core}/v2/handle`, body);
  const isThere = async () => {
    await page.locator('h1').waitFor();
    await expect.poll(async () => words.isQuiet() && (await page.locator('.skeleton').count()) === 0).toBe(true);
  };

  test('where one signs in and where the login is set up', async () => {
    const left: string[] = [];
    await page.goto(`${dashboard.url}/login`);
    await page.locator('#code').waitFor();
    left.push(...(await words.left(page)));
    await page.goto(`${dashboard.url}/setup`);
    await page.locator('h1').waitFor();
    left.push(...(await words.left(page)));
    await setUp(page, dashboard, async () => void left.push(...(await words.left(page))));
    expect(left).toEqual([]);
  });

  test('a conversation with all that happens in one', async () => {
    await handle({
      channel: 'messenger',
      conversation_key: 'messenger:m:user:1',
      sender: { raw_id: '1', raw_username: 'stranger' },
      content: { text: 'May I?' },
    });
    for (const text of ['think of it', 'tool clock {}', 'fail'])
      await handle({
        channel: 'compat',
        conversation_key: 'compat:compat:session:0',
        sender: { raw_id: 'owner' },
        content: { text },
      });
    await page.goto(`${dashboard.url}/chat`);
    await isLive(page);
    const left: string[] = [];
    for (const text of [
      'think of it',
      'tool clock {}',
      'fail',
      'echo `code`\n\n| a |\n| - |\n| b |',
      'ask Is it so? | It is | It is not',
    ]) {
      const before = await page.locator('.reply').count();
      await page.locator('.composer textarea').fill(text);
      await page.locator('.composer .send').click();
      await page.locator('.reply').nth(before).locator('.below, .fault, .question').first().waitFor();
      left.push(...(await words.left(page)));
    }
    await page.locator('.fold-line').first().click();
    await page.keyboard.press('Control+f');
    await page.locator('.find input').fill('think');
    left.push(...(await words.left(page)));
    expect(left).toEqual([]);
  });

  test.each(screens)('%s, and what its buttons open', async (screen) => {
    await page.goto(dashboard.url + screen);
    await isThere();
    const left = await words.left(page);
    // Whatever is pressed, nothing happens: the words of the page are looked at, not its deeds.
    await page.route(/.*/, (route) =>
      route.request().method() === 'GET' ? route.fallback() : route.fulfill({ status: 409, json: { message: 'Not now.' } }),
    );
    const done = new Set<string>();
    const buttons = page.locator('main button:visible:enabled:not([role=tab])');
    for (let at = 0; at < (await buttons.count()); at++) {
      const name = (await buttons.nth(at).innerText()) || `${at}`;
      if (done.has(name)) continue;
      done.add(name);
      await buttons.nth(at).click();
      await isThere();
      left.push(...(await words.left(page)));
      if ((await page.locator('dialog[open]').count()) > 0) await page.keyboard.press('Escape');
    }
    await page.unroute(/.*/);
    expect([...new Set(left)]).toEqual([]);
  });

  test('what keys open', async () => {
    await page.goto(dashboard.url);
    await isThere();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('x');
    await page.getByRole('option').first().waitFor();
    const left = await words.left(page);
    await page.keyboard.press('Escape');
    await page.locator('#main').focus();
    await page.keyboard.press('?');
    await page.locator('.key-list').waitFor();
    left.push(...(await words.left(page)));
    expect(left).toEqual([]);
    expect(faults).toEqual([]);
  });
});
