import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { readdirSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { skipNote } from '@svc/testing/skip-note.ts';
import { violationsInThemes } from './dashboard/violations.ts';
import { isLive, openBrowser, openPaired, say, watch, whyNoBrowser } from './device-app/browser.ts';
import { conversation } from './device-app/sample-conversation.ts';
import { dist, type ScriptedGateway, startScriptedGateway } from './device-app/scripted-gateway.ts';

const why = whyNoBrowser();
const maxScriptKb = 190;

/** How far the page can be moved sideways. */
const sideways = (page: Page): Promise<number> =>
  page.evaluate('document.scrollingElement.scrollWidth - innerWidth') as Promise<number>;

describe.skipIf(why !== null)(`layout and accessibility of the app of a device${skipNote(why)}`, () => {
  let browser: Browser;
  let gateway: ScriptedGateway;

  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    gateway = await startScriptedGateway();
    gateway.script.history = conversation.history;
    gateway.script.sessions = conversation.sessions;
  });
  afterEach(() => gateway.close());

  test(`[21] its scripts are at most ${maxScriptKb} KB`, () => {
    const scripts = readdirSync(path.join(dist, 'assets')).filter((name) => name.endsWith('.js'));
    const bytes = scripts.reduce((sum, name) => sum + gzipSync(readFileSync(path.join(dist, 'assets', name))).length, 0);
    expect(bytes / 1000).toBeLessThanOrEqual(maxScriptKb);
  });

  test.each([390, 1280])('[34] axe finds no violation at %s, in light and dark', async (width) => {
    const isPhone = width < 600;
    const context = await browser.newContext({
      viewport: { width, height: 844 },
      hasTouch: isPhone,
      isMobile: isPhone,
      bypassCSP: true, // axe is injected into the page; other tests check that the page itself keeps to its CSP
    });
    const stranger = await context.newPage();
    await stranger.goto(gateway.url);
    await stranger.getByLabel('Link or code').waitFor();
    expect(await violationsInThemes(stranger, 'pairing')).toEqual([]);
    await stranger.close();
    const { page } = await openPaired(context, gateway);
    await page.locator('.table').first().waitFor();
    gateway.script.onTurn = (turnId, { body }) => conversation.play(gateway, turnId, body['message_id']);
    await say(page, 'Clean up the old logs.');
    await page.locator('.question').waitFor();
    expect(await violationsInThemes(page, 'conversation')).toEqual([]);
    await page.getByRole('button', { name: 'Settings' }).click();
    expect(await violationsInThemes(page, 'settings')).toEqual([]);
    await page.keyboard.press('Escape');
    if (isPhone) {
      await page.getByRole('button', { name: 'Conversations', exact: true }).click();
      expect(await violationsInThemes(page, 'conversations')).toEqual([]);
    }
    await context.close();
  });

  test('[38] nothing overflows the page sideways, from 320 to 1920 px wide', async () => {
    const context = await browser.newContext({ viewport: { width: 320, height: 700 }, serviceWorkers: 'block' });
    const { page, faults } = await openPaired(context, gateway);
    await page.locator('.markdown').first().waitFor();
    for (const width of [320, 390, 768, 1280, 1920]) {
      await page.setViewportSize({ width, height: 700 });
      expect(await sideways(page), `at ${width}`).toBeLessThanOrEqual(0);
      await page.getByRole('button', { name: 'Settings' }).click();
      expect(await sideways(page), `the settings at ${width}`).toBeLessThanOrEqual(0);
      await page.keyboard.press('Escape');
    }
    expect(faults).toEqual([]);
    await context.close();
  });

  describe('with the keyboard alone', () => {
    let context: BrowserContext;
    let page: Page;
    beforeEach(async () => {
      context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
      ({ page } = await openPaired(context, gateway));
    });
    afterEach(() => context.close());

    test('[35] Tab reaches the controls, and closing the settings restores the focus', async () => {
      const settings = page.getByRole('button', { name: 'Settings' });
      await settings.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await settings.evaluate((element) => element.matches(':focus'))).toBe(true);
      const seen = new Set<string>();
      for (let index = 0; index < 40; index += 1) {
        await page.keyboard.press('Tab');
        seen.add(
          String(await page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent')),
        );
      }
      expect([...seen]).toEqual(expect.arrayContaining(['Message', 'Attach files', 'Take a photo', 'Conversation', 'Settings']));
      await page.getByLabel('Message', { exact: true }).focus();
      await page.keyboard.type('by hand');
      await page.keyboard.press('Enter');
      await expect.poll(() => page.locator('.bubble').last().textContent()).toBe('by hand');
    });

    test('without network, a reload shows the messages that wait to be sent', async () => {
      const faults = watch(page);
      await page.evaluate('navigator.serviceWorker.ready');
      await page.reload();
      await isLive(page);
      gateway.close();
      await say(page, 'later then');
      await expect.poll(() => page.locator('.said').last().textContent()).toMatch(/Waiting for the connection/);
      await page.reload();
      await expect.poll(() => page.locator('#outbox').textContent()).toBe('later then');
      expect(faults.filter((fault) => !fault.includes('ERR_'))).toEqual([]);
    });
  });
});
