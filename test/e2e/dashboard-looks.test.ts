import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from 'vitest';
import { skipNote } from '@svc/testing/skip-note.ts';
import { root } from '../repository.ts';
import { go } from './dashboard/go.ts';
import { type Dashboard, isLive, openDashboard, setUp } from './dashboard/open-dashboard.ts';
import { sideways } from './dashboard/sideways.ts';
import { picture, violations, violationsInAllLooks, violationsInThemes } from './dashboard/violations.ts';
import { openBrowser, say, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();

/**
 * How far it can be moved sideways, once it has drawn what a new width changes, and whether it has the button that closes the list of screens,
 * which only a narrow page opens.
 */
const lookSideways = (page: Page): Promise<{ px: number; closesList: boolean }> =>
  page.evaluate(`new Promise((tell) => requestAnimationFrame(() => requestAnimationFrame(() => tell({
    px: ${sideways},
    closesList: document.querySelector('[aria-label="Close the list of screens"]')?.checkVisibility() === true,
  }))))`);

/**
 * Boxes that cut off a part of their content, or that scroll within the page. The page itself
 * scrolls, and so do the conversation, the list of screens and fields of several lines.
 */
const cutOff = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('main *')].filter((box) => {
    if (box.matches('.transcript, textarea, pre') || box.closest('.transcript, svg') !== null) return false;
    const { overflowY, clipPath } = getComputedStyle(box);
    return overflowY !== 'visible' && overflowY !== 'clip' && clipPath === 'none' && box.scrollHeight > box.clientHeight + 1;
  }).map((box) => box.tagName + '.' + box.className)`) as Promise<string[]>;

/** Each screen, and a selector that matches once it is complete. */
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

describe.skipIf(why !== null)(`layout and accessibility of the dashboard${skipNote(why)}`, () => {
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
    // Axe is injected into the page, past its CSP; other tests check that the page itself keeps to it.
    context = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP: true, serviceWorkers: 'block' });
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

  test('axe finds no problem in the set-up of the login and on the sign-in page', async () => {
    const stranger = await browser.newContext({
      viewport: { width: 390, height: 844 },
      bypassCSP: true,
      serviceWorkers: 'block',
    });
    const login = await stranger.newPage();
    await login.goto(`${dashboard.url}/login`);
    await login.getByLabel('Password').waitFor();
    await look(login, 'login');
    await stranger.close();
    expect(found.splice(0)).toEqual([]);
  });

  test('[21] the login loads at most 15 KB of scripts, the chat 190 KB, and each settings page 40 KB more', async () => {
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
    const stranger = await browser.newContext({ serviceWorkers: 'block' });
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

  test('marks the current section of the settings, also with a search in the URL', async () => {
    const marked = page.getByRole('navigation', { name: 'Settings' }).locator('[aria-current=page]');
    for (const { place, name } of [
      { place: 'tools', name: 'Tools' },
      { place: 'files?text=plan', name: 'Files' },
    ]) {
      await page.goto(`${dashboard.url}/settings/${place}`);
      await expect.poll(() => marked.allTextContents(), { message: place }).toEqual([name]);
    }
  });

  /** How what is open looks in a narrow window and in a wide one. */
  const lookInAll = async (name: string) => void found.push(...(await violationsInAllLooks(page, name)));
  const nothingIsFound = () => {
    expect(found.splice(0)).toEqual([]);
    expect(faults.splice(0)).toEqual([]);
  };
  const turned = [
    { width: 390, to: [320, 390] },
    { width: 1280, to: [768, 1280, 1920] },
  ];

  test.each(screens)(
    '[34] [38] axe finds no violation on $path at 390 and at 1280, and nothing overflows',
    async ({ path: place, ready }) => {
      if (page.url() === 'about:blank') await page.goto(dashboard.url);
      onTestFailed(async () => void (await page.goto('about:blank')));
      await go(page, place);
      await page.locator(ready).first().waitFor();
      await lookInAll(place === '/' ? 'home' : place.slice(1).replaceAll(/[^a-z]+/gi, ' '));
      for (const { width, to } of turned) {
        for (const other of to) {
          await page.setViewportSize({ width: other, height: 844 });
          expect(await lookSideways(page), `${place} at ${other}`).toEqual({ px: 0, closesList: false });
        }
        // A phone with its keyboard open.
        await page.setViewportSize({ width, height: 360 });
        expect(await cutOff(page), `${place} at ${width}`).toEqual([]);
      }
      nothingIsFound();
    },
  );

  test('[34] axe finds no violation in dialogs and menus, at 390 and at 1280', async () => {
    await page.goto(dashboard.url);
    await go(page, '/channels');
    await page.locator('.rows-list > li').first().waitFor();
    await page.getByRole('button', { name: 'Add channel' }).click();
    await page.getByLabel('Kind').selectOption('messenger');
    await lookInAll('add-channel');
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
      await go(page, `/settings/${place}`);
      await page.getByRole('button', { name: opener, exact: true }).click();
      await lookInAll(opener.toLowerCase());
    }
    await go(page, '/people');
    await page
      .getByRole('button', { name: /\(owner\)|^owner$/ })
      .first()
      .click();
    await lookInAll('person');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Invite a person' }).click();
    await lookInAll('invite');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('option').first().waitFor();
    await lookInAll('palette');
    await page.keyboard.press('Escape');
    await page.locator('#main').focus();
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await lookInAll('keys');
    await page.keyboard.press('Escape');
    // What only a narrow window has.
    await page.setViewportSize({ width: 390, height: 844 });
    found.push(...(await violationsInThemes(page, 'bar of screens')));
    await page.getByRole('button', { name: 'More' }).click();
    found.push(...(await violationsInThemes(page, 'more')));
    nothingIsFound();
  });
});
