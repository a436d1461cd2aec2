import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { skipNote } from '@svc/testing/skip-note.ts';
import { root } from '../repository.ts';
import { type Dashboard, isLive, openDashboard, setUp } from './dashboard/open-dashboard.ts';
import { picture, violations, violationsInThemes } from './dashboard/violations.ts';
import { openBrowser, say, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();

/** How far the page can be moved sideways, once it has drawn what a new width changes. */
const sideways = (page: Page): Promise<number> =>
  page.evaluate(`new Promise((tell) => requestAnimationFrame(() => requestAnimationFrame(() =>
    tell(document.scrollingElement.scrollWidth - innerWidth))))`) as Promise<number>;

/**
 * What has lost a part of its height: boxes that cut off what is in them, or make one scroll in a window within the window. The page itself
 * scrolls, and so do the conversation, the list of screens and fields of several lines.
 */
const cutOff = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('main *')].filter((box) => {
    if (box.matches('.transcript, textarea, pre') || box.closest('.transcript, svg') !== null) return false;
    const { overflowY, clipPath } = getComputedStyle(box);
    return overflowY !== 'visible' && overflowY !== 'clip' && clipPath === 'none' && box.scrollHeight > box.clientHeight + 1;
  }).map((box) => box.tagName + '.' + box.className)`) as Promise<string[]>;

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

  /** Goes to a screen as its link would, without loading the page again; by way of one that has nothing, so that all that is ready is of this one. */
  async function go(place: string, ready: string): Promise<void> {
    await page.evaluate("history.pushState({}, '', '/nothing/is/here')");
    await page.getByText('This page does not exist.').waitFor();
    await page.evaluate(`history.pushState({}, '', ${JSON.stringify(place)})`);
    await page.locator(ready).first().waitFor();
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
      const note = (response: Response) => void (response.url().endsWith('.js') && scripts.add(response.url()));
      shown.on('response', note);
      await shown.goto(dashboard.url + place);
      await shown.locator(ready).first().waitFor();
      shown.off('response', note);
      return scripts;
    };
    const stranger = await browser.newContext();
    expect(sizeOf(await scriptsOf(await stranger.newPage(), '/login', 'h1'))).toBeLessThanOrEqual(15);
    await stranger.close();
    const other = await context.newPage();
    const chat = await scriptsOf(other, '/chat', '.reply .below');
    expect(sizeOf(chat)).toBeLessThanOrEqual(190);
    for (const { path: place, ready } of screens.filter(({ path: at }) => at.startsWith('/settings'))) {
      const more = [...(await scriptsOf(other, place, ready))].filter((url) => !chat.has(url));
      expect(sizeOf(more), place).toBeLessThanOrEqual(40);
      expect(more.length, place).toBeGreaterThan(0);
    }
    await other.close();
  });

  test('the section of the settings that is shown is marked among the others, also while something is looked for', async () => {
    const marked = page.getByRole('navigation', { name: 'Settings' }).locator('[aria-current=page]');
    for (const { place, name } of [
      { place: 'tools', name: 'Tools' },
      { place: 'files?text=plan', name: 'Files' },
    ]) {
      await page.goto(`${dashboard.url}/settings/${place}`);
      await expect.poll(() => marked.allTextContents(), { message: place }).toEqual([name]);
    }
  });

  /** What one opens of a screen, as it looks in both themes. */
  const lookInThemes = async (name: string) => void found.push(...(await violationsInThemes(page, name)));

  const windows = [
    { width: 390, turnedTo: [320, 390] },
    { width: 1280, turnedTo: [768, 1280, 1920] },
  ];
  test.each(windows)(
    '[34] [38] axe finds nothing on any screen at $width, and nothing goes out of it',
    async ({ width, turnedTo }) => {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(dashboard.url);
      found.length = 0;
      for (const { path: place, ready } of screens) {
        await go(place, ready);
        await lookInThemes(place === '/' ? 'home' : place.slice(1).replaceAll(/[^a-z]+/gi, ' '));
        for (const other of turnedTo) {
          await page.setViewportSize({ width: other, height: 844 });
          expect(await sideways(page), `${place} at ${other}`).toBeLessThanOrEqual(0);
          // It closes the list of screens, which only a narrow page opens.
          expect(await page.getByRole('button', { name: 'Close the list of screens' }).count(), place).toBe(0);
        }
        // A phone with its keyboard open.
        await page.setViewportSize({ width, height: 360 });
        expect(await cutOff(page), place).toEqual([]);
        await page.setViewportSize({ width, height: 844 });
      }
      await go('/channels', '.rows-list > li');
      await page.getByRole('button', { name: 'Add channel' }).click();
      await page.getByLabel('Kind').selectOption('messenger');
      await lookInThemes('add-channel');
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
        await go(`/settings/${place}`, '.view');
        await page.getByRole('button', { name: opener, exact: true }).click();
        await lookInThemes(opener.toLowerCase());
      }
      await go('/people', '.facts tbody tr');
      await page
        .getByRole('button', { name: /\(owner\)|^owner$/ })
        .first()
        .click();
      await lookInThemes('person');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Invite a person' }).click();
      await lookInThemes('invite');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+k');
      await page.getByRole('option').first().waitFor();
      await lookInThemes('palette');
      await page.keyboard.press('Escape');
      await page.locator('#main').focus();
      await page.keyboard.press('?');
      await page.getByRole('heading', { name: 'Keys' }).waitFor();
      await lookInThemes('keys');
      await page.keyboard.press('Escape');
      if (width < 600) {
        await page.getByRole('button', { name: 'More' }).click();
        await lookInThemes('more');
      }
      expect(found).toEqual([]);
      expect(faults).toEqual([]);
    },
  );
});
