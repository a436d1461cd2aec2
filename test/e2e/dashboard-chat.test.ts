import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { History } from '@svc/contract/session.ts';
import { type Dashboard, isLive, openDashboard, setUp } from './dashboard/open-dashboard.ts';
import { openBrowser, say, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();
const chunkBytes = 8 * 1024 * 1024;

/** All of it is real, but for the network between the page and the dashboard: that is cut where a test says so. */
describe.skipIf(why !== null)(`the chat of the dashboard${why === null ? '' : ` (skipped: ${why})`}`, () => {
  let dashboard: Dashboard;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let faults: string[];

  beforeAll(async () => {
    browser = await openBrowser([], 'dashboard');
    dashboard = await openDashboard();
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    page = await context.newPage();
    faults = watch(page);
    await setUp(page, dashboard);
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.house.stop();
  });
  beforeEach(async () => {
    await context.setOffline(false);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.goto(`${dashboard.url}/chat`);
    await isLive(page);
    faults.length = 0;
  });

  const input = () => page.getByLabel('Message', { exact: true });
  const lastReply = (shown: Page = page) => shown.locator('.reply').last().textContent();
  /** What the core has of the conversation. */
  const history = async (): Promise<History['messages']> => {
    const answer = await fetch(`${dashboard.house.urls.core}/v2/session/web%3AAnna%3Amain/history`);
    return answer.status === 404 ? [] : ((await answer.json()) as History).messages;
  };
  const timesSaid = async (text: string) => (await history()).filter((message) => message.text === text).length;

  test('[15] what is sent while the service is away is kept over a reload, and sent once', async () => {
    await page.route('**/chat/turn', (route) => route.abort());
    await say(page, 'count 4');
    await page.getByText('Waiting for the connection').waitFor();
    await page.reload();
    await expect.poll(() => page.locator('.bubble').last().textContent()).toBe('count 4');
    // Arrives, and its answer is lost: the same message is sent again.
    await page.unroute('**/chat/turn');
    let asked = 0;
    await page.route('**/chat/turn', async (route) => {
      asked += 1;
      if (asked > 1) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await page.evaluate("dispatchEvent(new Event('online'))");
    await expect.poll(() => lastReply(), { timeout: 30_000 }).toMatch(/1\s*2\s*3\s*4/);
    await expect.poll(() => asked, { timeout: 30_000 }).toBeGreaterThan(1);
    expect(await page.locator('.bubble', { hasText: 'count 4' }).count()).toBe(1);
    expect(await timesSaid('count 4')).toBe(1);
  });

  test('a draft is there after a reload, and on the page without network', async () => {
    await input().fill('half a thought');
    await page.reload();
    await expect.poll(() => input().inputValue()).toBe('half a thought');
    await expect.poll(() => page.evaluate('navigator.serviceWorker.ready.then(({ active }) => active.state)')).toBe('activated');
    await page.reload(); // the worker has the page from here on
    await isLive(page);
    await context.setOffline(true);
    await page.goto(`${dashboard.url}/chat`);
    await page.getByRole('heading', { name: 'The assistant cannot be reached' }).waitFor();
    await expect.poll(() => page.locator('#drafts').textContent()).toBe('half a thought');
    await context.setOffline(false);
    await expect.poll(() => input().inputValue()).toBe('half a thought');
    await input().fill('');
  });

  test('[28] two tabs show one conversation as it goes on, over one stream', async () => {
    const second = await context.newPage();
    faults.push(...watch(second));
    await second.goto(`${dashboard.url}/chat`);
    await isLive(second);
    await say(page, 'count 5');
    for (const shown of [page, second]) await expect.poll(() => lastReply(shown)).toMatch(/1\s*2\s*3\s*4\s*5/);
    expect(await second.locator('.bubble', { hasText: 'count 5' }).count()).toBe(1);
    await second.close();
    expect(faults).toEqual([]);
  });

  test('[26] a running turn is joined by a page that opens, and stopped from there', async () => {
    await say(page, 'wait 60 slowly');
    await page.getByRole('button', { name: 'Stop the answer' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Stop the answer' }).click();
    await expect.poll(() => lastReply()).toMatch(/Stopped\./);
    expect(faults).toEqual([]);
  });

  test('[29] a large file goes in chunks, and goes on where it was after a reload', async () => {
    const file = path.join(dashboard.house.folder, 'large.bin');
    writeFileSync(file, Buffer.alloc(3 * chunkBytes, 7));
    const chunks: string[] = [];
    let isCut = true;
    await page.route('**/core/v2/upload/*/*', async (route) => {
      const index = route.request().url().replace(/\?.*/, '').split('/').at(-1) ?? '';
      if (isCut && index === '1') return route.abort();
      if (/^\d+$/.test(index)) chunks.push(index);
      return route.continue();
    });
    await page.getByLabel('Attach files').setInputFiles(file);
    await say(page, 'count 2');
    await page.getByText('Waiting for the connection').waitFor();
    expect(chunks).toEqual(['0']);
    isCut = false;
    await page.reload();
    await expect.poll(async () => (await history()).at(-2)?.attachments[0]?.name, { timeout: 30_000 }).toBe('large.bin');
    expect(new Set(chunks).size).toBe(chunks.length);
    await expect.poll(() => lastReply()).toMatch(/1\s*2/);
    expect(await page.locator('.file', { hasText: 'large.bin' }).count()).toBe(1);
  });

  test('the worker keeps assets with a hash in their name and the page without network; what is not there is a 404', async () => {
    await expect.poll(() => page.evaluate('navigator.serviceWorker.ready.then(({ active }) => active.state)')).toBe('activated');
    await page.reload();
    await isLive(page);
    expect(await page.evaluate("fetch('/assets/index-00000000.js').then(({ status }) => status)")).toBe(404);
    const names = (await page.evaluate('caches.keys()')) as string[];
    expect(names).toHaveLength(1);
    const kept = (await page.evaluate(
      '(async () => (await (await caches.open((await caches.keys())[0])).keys()).map(({ url }) => new URL(url).pathname))()',
    )) as string[];
    expect(kept.filter((name) => !/^\/assets\/.+-[\w-]{8}\.\w+$/.test(name))).toEqual(['/offline.html']);
  });
});
