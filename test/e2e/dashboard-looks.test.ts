import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { skipNote } from '@svc/testing/skip-note.ts';
import { root } from '../repository.ts';
import { type Dashboard, isLive, openDashboard, setUp } from './dashboard/open-dashboard.ts';
import { picture, violations } from './dashboard/violations.ts';
import { openBrowser, say, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();

/** How far the page can be moved sideways. */
const sideways = (page: Page): Promise<number> =>
  page.evaluate('document.scrollingElement.scrollWidth - innerWidth') as Promise<number>;

/** Each screen, and what is on it when it has all that it shows. */
const screens = [
  { path: '/', ready: 'h1' },
  { path: '/chat', ready: '.reply .below' },
  { path: '/welcome/engine', ready: '.rows-list > li' },
  { path: '/welcome/message', ready: '.reply .below' },
  { path: '/welcome/channel', ready: '.primary:enabled' },
  { path: '/sessions', ready: '.facts tbody tr' },
  { path: '/sessions?text=nothing+is+like+this', ready: '.empty-state' },
  { path: '/sessions/web%3AAnna%3Amain', ready: '.reply .below' },
  { path: '/sessions/web%3AAnna%3Amain?tab=facts', ready: '.facts-list' },
  { path: '/sessions/web%3AAnna%3Amain?tab=terminal', ready: '.empty-state' },
  { path: '/search?q=count', ready: '.snippet mark' },
  { path: '/people', ready: '.facts tbody tr' },
  { path: '/channels', ready: '.rows-list > li' },
  { path: '/costs', ready: '.facts tbody tr' },
  { path: '/activity', ready: '.events li' },
  { path: '/settings', ready: '.rows-list > li' },
  { path: '/settings/engines', ready: '.view .rows-list > li' },
  { path: '/settings/tools', ready: '.view .rows-list > li' },
  { path: '/settings/announcements', ready: '.view .empty-state' },
  { path: '/settings/persona', ready: '.view .words' },
  { path: '/settings/limits', ready: '.view .facts tbody tr' },
  { path: '/settings/speech', ready: '.view .rows-list > li' },
  { path: '/settings/files', ready: '.view .empty-state' },
  { path: '/settings/folders', ready: '.view .section p' },
  { path: '/settings/backups', ready: '.view .section p' },
  { path: '/settings/version', ready: '.view .stack' },
  { path: '/settings/account', ready: '.view .rows-list > li' },
  { path: '/activity?tab=machine', ready: '.figures' },
  { path: '/activity?tab=audit', ready: '.facts tbody tr' },
] as const;

describe.skipIf(why !== null)(`how the dashboard looks${skipNote(why)}`, () => {
  let dashboard: Dashboard;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let faults: string[];
  const found: string[] = [];

  async function look(shown: Page, name: string): Promise<void> {
    const width = shown.viewportSize()?.width ?? 0;
    await picture(shown, name);
    found.push(...(await violations(shown)).map((line) => `${name} at ${width}: ${line}`));
  }

  beforeAll(async () => {
    browser = await openBrowser([], 'dashboard');
    dashboard = await openDashboard();
    // axe is put into the page; that the page itself needs nothing of the like, the other tests hold
    context = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP: true });
    page = await context.newPage();
    faults = watch(page);
    await setUp(page, dashboard, (step) => look(page, `set-up ${step}`));
    await page.goto(`${dashboard.url}/chat`);
    await isLive(page);
    await say(page, 'count 3');
    await page.locator('.reply .below').waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.house.stop();
  });

  test('axe finds nothing while the login is set up, and where one signs in', async () => {
    const stranger = await browser.newContext({ viewport: { width: 390, height: 844 }, bypassCSP: true });
    const login = await stranger.newPage();
    await login.goto(`${dashboard.url}/login`);
    await login.getByLabel('Password').waitFor();
    await look(login, 'login');
    await stranger.close();
    expect(found).toEqual([]);
  });

  test('[21] signing in takes 15 KB of scripts at most, the chat 190 KB, and settings 40 KB beside them', async () => {
    const fileOf = (url: string) => path.join(root, 'apps/dashboard/app/dist', new URL(url).pathname);
    const sizeOf = (scripts: Iterable<string>) =>
      [...scripts].reduce((sum, url) => sum + gzipSync(readFileSync(fileOf(url))).length, 0) / 1000;
    const scriptsOf = async (shown: Page, place: string, ready: string): Promise<Set<string>> => {
      const scripts = new Set<string>();
      shown.on('response', (response) => response.url().endsWith('.js') && scripts.add(response.url()));
      await shown.goto(dashboard.url + place);
      await shown.locator(ready).first().waitFor();
      return scripts;
    };
    const stranger = await browser.newContext();
    expect(sizeOf(await scriptsOf(await stranger.newPage(), '/login', 'h1'))).toBeLessThanOrEqual(15);
    await stranger.close();
    const other = await context.newPage();
    const chat = await scriptsOf(other, '/chat', '.reply .below');
    expect(sizeOf(chat)).toBeLessThanOrEqual(190);
    await other.close();
    for (const { path: place, ready } of screens.filter(({ path: at }) => at.startsWith('/settings'))) {
      const shown = await context.newPage();
      const more = [...(await scriptsOf(shown, place, ready))].filter((url) => !chat.has(url));
      expect(sizeOf(more), place).toBeLessThanOrEqual(40);
      expect(more.length, place).toBeGreaterThan(0);
      await shown.close();
    }
  });

  const looks = [390, 1280].flatMap((width) => (['light', 'dark'] as const).map((scheme) => ({ width, scheme })));
  test.each(looks)('[34] axe finds nothing on any screen at $width, $scheme', async ({ width, scheme }) => {
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme: scheme });
    found.length = 0;
    for (const { path: place, ready } of screens) {
      await page.goto(dashboard.url + place);
      await page.locator(ready).first().waitFor();
      await look(page, `${place === '/' ? 'home' : place.slice(1).replaceAll(/[^a-z]+/gi, ' ')}-${scheme}`);
    }
    await page.goto(`${dashboard.url}/channels`);
    await page.getByRole('button', { name: 'Add channel' }).click();
    await page.getByLabel('Kind').selectOption('messenger');
    await look(page, `add-channel-${scheme}`);
    await page.keyboard.press('Escape');
    const dialogs = [
      { place: 'tools', opener: 'Add tool server' },
      { place: 'tools', opener: 'Import' },
      { place: 'announcements', opener: 'Post a note' },
      { place: 'persona', opener: 'Edit persona' },
      { place: 'limits', opener: 'Set price' },
      { place: 'files', opener: 'Make a silo' },
    ] as const;
    for (const { place, opener } of dialogs) {
      await page.goto(`${dashboard.url}/settings/${place}`);
      await page.getByRole('button', { name: opener, exact: true }).click();
      await look(page, `${opener.toLowerCase()}-${scheme}`);
    }
    await page.goto(`${dashboard.url}/people`);
    await page
      .getByRole('button', { name: /\(owner\)|^owner$/ })
      .first()
      .click();
    await look(page, `person-${scheme}`);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Invite somebody' }).click();
    await look(page, `invite-${scheme}`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('option').first().waitFor();
    await look(page, `palette-${scheme}`);
    await page.keyboard.press('Escape');
    await page.locator('#main').focus();
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await look(page, `keys-${scheme}`);
    await page.keyboard.press('Escape');
    if (width < 600) {
      await page.getByRole('button', { name: 'More' }).click();
      await look(page, `more-${scheme}`);
    }
    expect(found).toEqual([]);
    expect(faults).toEqual([]);
  });

  test.each([320, 390, 768, 1280, 1920])('[38] nothing goes out of the page at %s', async (width) => {
    await page.setViewportSize({ width, height: 700 });
    for (const { path: place, ready } of screens) {
      await page.goto(dashboard.url + place);
      await page.locator(ready).first().waitFor();
      expect(await sideways(page), place).toBeLessThanOrEqual(0);
      // It closes the list of screens, which only a narrow page opens.
      expect(await page.getByRole('button', { name: 'Close the list of screens' }).count(), place).toBe(0);
    }
  });
});
