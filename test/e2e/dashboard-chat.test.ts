import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFailed, onTestFinished, test } from 'vitest';
import type { History } from '@svc/contract/session.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { type Dashboard, isLive, openDashboard, setUp } from './dashboard/open-dashboard.ts';
import { openBrowser, say, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();
const chunkBytes = 1024 * 1024;

/** Everything is real, except that tests may cut the network between the page and the dashboard. */
describe.skipIf(why !== null)(`chat of the dashboard${skipNote(why)}`, () => {
  let dashboard: Dashboard;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let faults: string[];
  let setUpMs: number;
  let landedAt: string;
  /** Counts up, so that the text of each question is unique, also when a test is retried. */
  let many = 10;

  beforeAll(async () => {
    browser = await openBrowser([], 'dashboard');
    dashboard = await openDashboard({ SVC_UPLOAD_CHUNK_SIZE: String(chunkBytes) });
    context = await browser.newContext({ viewport: { width: 1280, height: 800 }, serviceWorkers: 'block' });
    page = await context.newPage();
    faults = watch(page);
    const begun = performance.now();
    await setUp(page, dashboard);
    setUpMs = performance.now() - begun;
    landedAt = page.url();
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.house.stop();
  });
  test('[2] after set-up, the welcome pages lead from an engine to a first reply to a channel, and each survives a reload', async ({
    annotate,
  }) => {
    const begun = performance.now();
    expect(landedAt).toBe(`${dashboard.url}/welcome/engine`);
    await page.goto(landedAt);
    await page.getByRole('button', { name: 'Test it' }).click();
    await page.getByLabel('Output of offline').waitFor();
    await page.getByRole('link', { name: 'Go on with offline' }).click();
    await expect.poll(() => input().inputValue()).toMatch(/^Hello/);
    await page.reload();
    await expect.poll(() => input().inputValue()).toMatch(/^Hello/);
    await page.getByRole('button', { name: 'Send message' }).click();
    await page.locator('.reply .below').waitFor();
    const seconds = (setUpMs + performance.now() - begun) / 1000;
    await annotate(`from the link to the first reply: ${seconds.toFixed(1)} s by script`);
    await page.reload();
    await page.locator('.reply .below').waitFor();
    await page.getByRole('link', { name: 'Go on to a channel' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Add channel' }).waitFor();
    await page.getByRole('link', { name: 'Go home' }).click();
    await page.getByText('No channel is connected').waitFor();
    expect(faults).toEqual([]);
  });

  beforeEach(async () => {
    // A tab that a failed test left open may hold the shared stream.
    for (const other of context.pages()) if (other !== page) await other.close();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    // A test leaves the page as a person could, unless it fails.
    onTestFailed(leavePage);
    if (page.url() !== `${dashboard.url}/chat`) await page.goto(`${dashboard.url}/chat`);
    await isLive(page);
    faults.length = 0;
  });

  const leavePage = async () => void (await page.goto('about:blank'));
  const input = (shown: Page = page) => shown.getByLabel('Message', { exact: true });
  /** The chat in another browser of the same login, with the service worker, which the page of the other tests lacks. */
  const openWithWorker = async (): Promise<Page> => {
    const other = await browser.newContext({ storageState: await context.storageState() });
    onTestFinished(() => other.close());
    const shown = await other.newPage();
    await shown.goto(`${dashboard.url}/chat`);
    await expect.poll(() => shown.evaluate('navigator.serviceWorker.ready.then(({ active }) => active.state)')).toBe('activated');
    return shown;
  };
  const lastReply = (shown: Page = page) => shown.locator('.reply').last().textContent();
  /** The messages of the conversation in the core. */
  const history = async (): Promise<History['messages']> => {
    const answer = await fetch(`${dashboard.house.urls.core}/v2/session/web%3AAnna%3Amain/history`);
    return answer.status === 404 ? [] : ((await answer.json()) as History).messages;
  };
  const isCounted = async (last: number, shown: Page = page) =>
    await expect.poll(() => lastReply(shown), { timeout: 30_000 }).toMatch(new RegExp(`${last - 1}\\s*${last} Copy`));
  const timesSaid = async (text: string) => (await history()).filter((message) => message.text === text).length;

  test('[15] a message sent while the service is away survives a reload and is sent once', async () => {
    const text = `count ${++many}`;
    let asked = 0;
    let isAway = true;
    await page.route('**/chat/turn', async (route) => {
      if (isAway) return route.abort();
      asked += 1;
      if (asked > 1) return route.continue();
      // Arrives, and its answer is lost: the same message is sent again.
      await route.fetch();
      return route.abort();
    });
    await say(page, text);
    await page.getByText('Waiting for the connection').waitFor();
    await page.reload();
    await expect.poll(() => page.locator('.bubble').last().textContent()).toBe(text);
    isAway = false;
    await page.evaluate("dispatchEvent(new Event('online'))");
    await isCounted(many);
    await expect.poll(() => asked, { timeout: 30_000 }).toBeGreaterThan(1);
    expect(await page.locator('.bubble', { hasText: text }).count()).toBe(1);
    expect(await timesSaid(text)).toBe(1);
  });

  test('a draft survives a reload, and is shown on the page without network', async () => {
    const shown = await openWithWorker();
    await input(shown).fill('half a thought');
    await shown.reload(); // the worker has the page from here on
    await isLive(shown);
    await expect.poll(() => input(shown).inputValue()).toBe('half a thought');
    await shown.context().setOffline(true);
    await shown.goto(`${dashboard.url}/chat`);
    await shown.getByRole('heading', { name: 'The assistant cannot be reached' }).waitFor();
    await expect.poll(() => shown.locator('#drafts').textContent()).toBe('half a thought');
    await shown.context().setOffline(false);
    await expect.poll(() => input(shown).inputValue()).toBe('half a thought');
  });

  test('[28] two tabs show the same conversation live over one stream', async () => {
    const text = `count ${++many}`;
    const streams: string[] = [];
    const record = (request: Request) => void streams.push(...(/\/(?:live|stream)$/.exec(request.url()) ?? []));
    context.on('request', record);
    onTestFinished(() => void context.off('request', record));
    await page.reload();
    await isLive(page);
    const second = await context.newPage();
    faults.push(...watch(second));
    await second.goto(`${dashboard.url}/chat`);
    await isLive(second);
    await say(page, text);
    for (const shown of [page, second]) await isCounted(many, shown);
    expect(await second.locator('.bubble', { hasText: text }).count()).toBe(1);
    expect(streams.toSorted()).toEqual(['/live', '/stream']);
    expect(faults).toEqual([]);
  });

  test('[28] a new tab shows a reply that arrived while it was reading the history', async () => {
    const second = await context.newPage();
    const answered = Promise.withResolvers<void>();
    await second.route(
      '**/core/v2/session/*/history*',
      async (route) => {
        const response = await route.fetch();
        await answered.promise;
        return route.fulfill({ response });
      },
      { times: 1 },
    );
    const isRead = second.waitForRequest('**/core/v2/session/*/history*');
    await second.goto(`${dashboard.url}/chat`);
    await isRead;
    await say(page, `count ${++many}`);
    await isCounted(many);
    answered.resolve();
    await isCounted(many, second);
    expect(faults).toEqual([]);
  });

  test('[28] a conversation begun in one tab appears in another that was already open', async () => {
    const conversation = `${dashboard.house.urls.core}/v2/session/web%3AAnna%3Amain`;
    await fetch(conversation, { method: 'DELETE' });
    const second = await context.newPage();
    for (const shown of [second, page]) {
      await shown.goto(`${dashboard.url}/chat`);
      await isLive(shown);
    }
    expect((await fetch(conversation)).status).toBe(404);
    await say(page, `count ${++many}`);
    for (const shown of [page, second]) await isCounted(many, shown);
    expect(faults).toEqual([]);
  });

  test('[26] a reloaded page shows the running turn and can stop it', async () => {
    await say(page, 'wait 60 slowly');
    await page.getByRole('button', { name: 'Stop the answer' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Stop the answer' }).click();
    await expect.poll(() => lastReply()).toMatch(/Stopped\./);
    expect(faults).toEqual([]);
  });

  test('[26] a failed turn says why and can be retried; “Stop and say” replaces a running one', async () => {
    const failing = 'fail engine_failed';
    const before = await timesSaid(failing);
    await say(page, failing);
    await page.locator('.reply').last().getByText('You asked the offline engine to fail').waitFor();
    await page.locator('.reply').last().getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => timesSaid(failing)).toBe(before + 2);
    const slow = `wait 60 then ${++many}`;
    await say(page, slow);
    await page.getByRole('button', { name: 'Stop the answer' }).waitFor();
    await input().fill(`count ${++many}`);
    await page.getByRole('button', { name: 'Stop and say' }).click();
    await isCounted(many);
    await page.locator('article', { hasText: slow }).getByText('Stopped.').waitFor();
    expect(faults).toEqual([]);
  });

  test('[26] text typed while a turn is being stopped is kept, and the message is sent once', async () => {
    await say(page, 'wait 60 to be stopped');
    await page.getByRole('button', { name: 'Stop the answer' }).waitFor();
    const gate = Promise.withResolvers<void>();
    await page.route('**/core/v2/abort', (route) => gate.promise.then(() => route.continue()));
    const text = `count ${++many}`;
    await input().fill(text);
    await page.getByRole('button', { name: 'Stop and say' }).click();
    await expect.poll(() => input().inputValue(), { timeout: 5000 }).toBe(''); // long before the stop is given up
    await input().fill('the next words');
    gate.resolve();
    await isCounted(many);
    expect(await input().inputValue()).toBe('the next words');
    expect(await timesSaid(text)).toBe(1);
    await input().fill('');
    expect(faults).toEqual([]);
  });

  test('[26] retracted text leaves the page, and a turn without a reply says so', async () => {
    const frame = (type: string, turn: string, more = {}) =>
      `event: ${type}\ndata: ${JSON.stringify({ turn_id: turn, ...more })}\n\n`;
    const begin = (turn: string, text: string) =>
      frame('begin', turn, { origin: 'message', channel: 'web', sender: 'Anna', message_id: null, text, attachments: [] });
    const told = [
      begin('quiet', 'say nothing'),
      frame('end', 'quiet', { outcome: 'silent', text: '' }),
      begin('moved', 'think twice'),
      frame('delta', 'moved', { text: 'half an answer' }),
      frame('retract', 'moved'),
    ];
    let isTold = false;
    await page.route('**/core/v2/session/*/stream', async (route) => {
      if (isTold) return route.abort();
      isTold = true;
      return route.fulfill({ contentType: 'text/event-stream', body: told.join('') });
    });
    // The previous page may have read it once more.
    page.once('framenavigated', () => (isTold = false));
    await page.reload();
    await page.locator('article', { hasText: 'say nothing' }).getByText('No reply.').waitFor();
    await page.locator('article', { hasText: 'think twice' }).getByText('Thinking').waitFor();
    expect(await page.getByText('half an answer').count()).toBe(0);
    expect(faults).toEqual([]);
    await leavePage();
  });

  test('previews an attached picture, and a refused message can be edited with its text and files', async () => {
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    await page.getByLabel('Attach files').setInputFiles({
      name: 'dot.png',
      mimeType: 'image/png',
      buffer: Buffer.from(pixel, 'base64'),
    });
    const isSeen = () =>
      expect.poll(() => page.evaluate('document.querySelector(".composer .preview")?.naturalWidth ?? 0')).toBe(1);
    await isSeen();
    await page.route('**/chat/turn', (route) =>
      route.fulfill({ status: 403, json: { error: 'no_access', message: 'You may not write here.' } }),
    );
    await say(page, 'keep my words');
    await page.getByText('Not sent. You may not write here.').waitFor();
    expect(await page.locator('.bubble').last().textContent()).toContain('keep my words');
    await page.getByRole('button', { name: 'Edit' }).click();
    await expect.poll(() => input().inputValue()).toBe('keep my words');
    await isSeen();
    await page.getByRole('button', { name: 'Remove dot.png' }).click();
    await input().fill('');
    expect(faults).toEqual([]);
  });

  test('[29] a large file is uploaded in chunks, and the upload resumes after a reload', async () => {
    const file = path.join(dashboard.house.folder, 'large.bin');
    writeFileSync(file, Buffer.alloc(6 * chunkBytes, 7));
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
    await page.locator('.said').last().locator('.file', { hasText: 'large.bin' }).waitFor();
  });

  test('the service worker caches only hashed assets and the page without network; a missing asset is a 404', async () => {
    const shown = await openWithWorker();
    await shown.reload();
    await isLive(shown);
    expect(await shown.evaluate("fetch('/assets/index-00000000.js').then(({ status }) => status)")).toBe(404);
    const names = (await shown.evaluate('caches.keys()')) as string[];
    expect(names).toHaveLength(1);
    const kept = (await shown.evaluate(
      '(async () => (await (await caches.open((await caches.keys())[0])).keys()).map(({ url }) => new URL(url).pathname))()',
    )) as string[];
    expect(kept.filter((name) => !/^\/assets\/.+-[\w-]{8}\.\w+$/.test(name))).toEqual(['/offline.html']);
  });

  test('keyboard navigation: the palette, letters after g, the switch that disables letters, and typing in a field', async () => {
    await page.goto(`${dashboard.url}/`);
    const title = () => page.locator('h1').textContent();
    await expect.poll(title).toBe('Home');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('peo');
    expect(await page.getByRole('option', { selected: true }).textContent()).toMatch(/^People/);
    await page.keyboard.press('Enter');
    await expect.poll(title).toBe('People');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('count 4');
    await page.keyboard.press('ArrowUp'); // from the first to the last, which searches
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toBe(`${dashboard.url}/search?q=count+4`);
    // The screen takes the focus when it is loaded, which may be after its address is there.
    await page.locator('input[type=search]:focus').waitFor();
    await page.locator('body').press('Escape');
    await page.locator('#main').focus();
    await page.keyboard.press('g');
    await page.keyboard.press('o');
    await expect.poll(title).toBe('Costs');
    await page.keyboard.press('Alt+ArrowDown');
    await expect.poll(() => page.url()).toMatch(/\/sessions\/web/);
    // As above: this screen gives the focus to the message field.
    await page.locator('textarea:focus').waitFor();
    await page.locator('#main').focus();
    await page.keyboard.press('?');
    await page.getByLabel('Single letters and signs are commands').uncheck();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await page.locator('#main').focus();
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.keyboard.press('?');
    await page.keyboard.press('Control+k'); // no letter: it works all the same
    await page.getByRole('combobox').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(1);
    expect(page.url()).toMatch(/\/sessions\/web/);
    await page.keyboard.press('Escape');
    await page.evaluate("localStorage.removeItem('svc-letter-keys')");
    await page.goto(`${dashboard.url}/chat`);
    await input().pressSequentially('g h?/');
    expect(await input().inputValue()).toBe('g h?/');
    expect(await title()).toBe('Chat');
    await input().fill('');
    expect(faults).toEqual([]);
  });

  test('the key that confirms a word of an input method sends no message, as Safari reports it', async () => {
    await page.goto(`${dashboard.url}/chat`);
    await input().fill('かんじ');
    const said = await page.locator('.said').count();
    await page.evaluate(
      "document.querySelector('textarea').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }))",
    );
    expect([await input().inputValue(), await page.locator('.said').count()]).toEqual(['かんじ', said]);
    await input().fill('');
    expect(faults).toEqual([]);
  });

  test('[20] with eight tabs open, the last can still send and the first still follows', async () => {
    const tabs: Page[] = [];
    for (let index = 0; index < 7; index += 1) {
      const tab = await context.newPage();
      await tab.goto(`${dashboard.url}/chat`);
      await isLive(tab);
      tabs.push(tab);
    }
    const last = tabs.at(-1) ?? page;
    await say(last, `count ${++many}`);
    for (const tab of [page, last]) await isCounted(many, tab);
  });

  test('[25] a new reply does not scroll down a reader who has scrolled up', async () => {
    for (let index = 0; index < 2; index += 1) {
      await say(page, `count ${(many += 30)}`);
      await isCounted(many);
    }
    const scrollTop = () => page.evaluate('document.querySelector(".transcript").scrollTop') as Promise<number>;
    await page.locator('.transcript').hover();
    await page.mouse.wheel(0, -500);
    await page.getByRole('button', { name: 'Newest' }).waitFor();
    const before = await scrollTop();
    const other = await context.newPage();
    await other.goto(`${dashboard.url}/chat`);
    await isLive(other);
    const text = `count ${++many}`;
    await say(other, text);
    await expect.poll(() => timesSaid(text)).toBe(1);
    await expect.poll(() => page.locator('.unseen[role=status]').textContent()).toBe('Answer ready');
    expect(Math.abs((await scrollTop()) - before)).toBeLessThanOrEqual(2);
    await page.getByRole('button', { name: 'Newest' }).click();
    await isCounted(many);
    expect(faults).toEqual([]);
  });
});
