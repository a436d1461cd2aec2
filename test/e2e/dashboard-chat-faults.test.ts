import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { History, HistoryMessage } from '@svc/contract/session.ts';
import { signalProcess } from '@svc/service-kit/process/signal-process.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { type BadLine, openBadLine } from './dashboard/bad-line.ts';
import { type Dashboard, isLive, openDashboard, signUp } from './dashboard/open-dashboard.ts';
import { openBrowser, say, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();
const maxNodes = 1500;
const maxHeapMb = 40;
const historyOf = '**/core/v2/session/web%3AAnna%3Amain/history*';

describe.skipIf(why !== null)(`chat of the dashboard on a bad connection${skipNote(why)}`, () => {
  let dashboard: Dashboard;
  let line: BadLine;
  let browser: Browser;
  let page: Page;
  let faults: string[];
  /** Counts up, so that the text of each question is unique, also when a test is retried. */
  let many = 10;

  beforeAll(async () => {
    browser = await openBrowser(['--js-flags=--expose-gc'], 'dashboard');
    dashboard = await openDashboard();
    line = await openBadLine(dashboard.url);
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, serviceWorkers: 'block' });
    page = await context.newPage();
    faults = watch(page);
    await signUp(page, { ...dashboard, url: line.url });
  });
  afterAll(async () => {
    await browser?.close();
    line?.close();
    await dashboard?.house.stop();
  });
  beforeEach(async () => {
    line.breaksAfter = () => false;
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.goto(`${line.url}/chat`);
    await isLive(page);
    faults.length = 0;
  });

  const lastReply = () => page.locator('.reply').last().textContent();
  const isCounted = (last: number) =>
    expect.poll(lastReply, { timeout: 30_000 }).toMatch(new RegExp(`^Assistant.*1\\s*2\\s*3.*${last - 1}\\s*${last} Copy`, 's'));
  const history = () =>
    dashboard.house.get<History>(`${dashboard.house.urls.core}/v2/session/web%3AAnna%3Amain/history?limit=50`);

  // Must be the first test: the conversation must not exist yet.
  test('the answer to a first message appears even if the page was left while it was being sent', async () => {
    const sent = Promise.withResolvers<void>();
    await page.route('**/chat/turn', async (route) => {
      await sent.promise;
      await route.continue();
    });
    const asked = page.waitForRequest('**/chat/turn');
    await say(page, 'count 2');
    await asked;
    await page.getByRole('link', { name: 'People', exact: true }).click();
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor();
    const read = page.waitForResponse(historyOf);
    await page.getByRole('link', { name: 'Chat', exact: true }).click();
    expect((await read).status()).toBe(404);
    await page.locator('.bubble', { hasText: 'count 2' }).waitFor();
    sent.resolve();
    await page.locator('.reply .below').waitFor();
    expect(await page.locator('.bubble', { hasText: 'count 2' }).count()).toBe(1);
  });

  test.each(['begin', 'delta', 'end'])('[16] a stream that breaks after “%s” resumes without gap or duplicate', async (kind) => {
    let isBroken = false;
    line.breaksAfter = (text) => {
      if (isBroken || !text.includes('conversation_key') || !text.includes(`event: ${kind}`)) return false;
      isBroken = true;
      return true;
    };
    const last = (many += 1);
    await say(page, `count ${last}`);
    await expect.poll(() => isBroken).toBe(true);
    await isCounted(last);
    expect(await page.locator('.bubble', { hasText: `count ${last}` }).count()).toBe(1);
    const said = ((await lastReply()) ?? '').match(/\d+/g)?.join('') ?? '';
    expect(said).toBe(Array.from({ length: last }, (_, index) => index + 1).join(''));
    expect(faults).toEqual([]);
  });

  test('[17] a core killed during a turn loses no message, and the chat goes on without a reload', async () => {
    const said = `wait 5 then ${(many += 1)}`;
    await say(page, said);
    await page.getByRole('button', { name: 'Stop the answer' }).waitFor();
    signalProcess(dashboard.house.pidOf('core'), 'SIGKILL');
    await expect
      .poll(async () => (await history().catch(() => null))?.messages.some(({ text }) => text === said), { timeout: 60_000 })
      .toBe(true);
    const last = (many += 1);
    await say(page, `count ${last}`);
    await isCounted(last);
    expect(await page.locator('.bubble', { hasText: said }).count()).toBe(1);
    expect((await history()).messages.filter(({ role, text }) => role === 'user' && text === said)).toHaveLength(1);
  });

  test(`[22] 10,000 messages take at most ${maxNodes} nodes and ${maxHeapMb} MB, and the newest is visible`, async () => {
    const messages = Array.from({ length: 5000 }, (_, index) => pair(index)).flat();
    await page.route(historyOf, (route) => route.fulfill({ json: { messages, next: null } satisfies History }));
    await page.reload();
    await expect.poll(() => page.locator('.bubble').last().textContent()).toBe('Question 4999');
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThanOrEqual(maxNodes);
    const heap = (await page.evaluate('gc(), performance.memory.usedJSHeapSize / 1e6')) as number;
    expect(heap).toBeLessThanOrEqual(maxHeapMb);
  });

  test('[23] loading older messages does not move the visible ones', async () => {
    const all = Array.from({ length: 200 }, (_, index) => pair(index)).flat();
    const gate = Promise.withResolvers<void>();
    let isAsked = false;
    // The page that is shown may be about to read its own history once more, and would take this one for what it has missed.
    await page.goto('about:blank');
    await page.route(historyOf, async (route) => {
      const asked = new URL(route.request().url()).searchParams.get('before');
      if (asked !== null) {
        isAsked = true;
        await gate.promise;
      }
      const before = Number(asked ?? all.length);
      const begin = Math.max(0, before - 50);
      await route.fulfill({ json: { messages: all.slice(begin, before), next: begin === 0 ? null : begin } satisfies History });
    });
    await page.goto(`${line.url}/chat`);
    await expect.poll(() => page.locator('.bubble').last().textContent()).toBe('Question 199');
    const size = () => page.locator('article').first().getAttribute('aria-setsize');
    const before = await size();
    const frame = () => page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    const top = () => page.evaluate('document.querySelector(".transcript").scrollTop');
    await page.locator('.transcript').hover();
    while (!isAsked) {
      await page.mouse.wheel(0, -200);
      await frame();
    }
    // Wait until scrolling has stopped, before any older message has come.
    for (let was = await top(); ;) {
      await frame();
      const now = await top();
      if (now === was) break;
      was = now;
    }
    const seen = String(await page.locator('.bubble').first().textContent());
    const place = () =>
      page.evaluate(
        `[...document.querySelectorAll('.bubble')].find((bubble) => bubble.textContent === ${JSON.stringify(seen)})?.getBoundingClientRect().top`,
      ) as Promise<number | undefined>;
    const first = await place();
    gate.resolve();
    await expect.poll(size).not.toBe(before);
    await frame();
    expect(Math.abs((first ?? 0) - ((await place()) ?? Infinity))).toBeLessThanOrEqual(2);
  });
});

const pair = (index: number): HistoryMessage[] => {
  const base = {
    turn_id: `t${index}`,
    sender: 'Anna',
    state: 'delivered',
    outcome: 'replied',
    attachments: [],
    tools: [],
  } satisfies Partial<HistoryMessage>;
  const reply = `Answer **${index}** with \`code\` and a list:\n\n- one\n- two\n\n${'Some words of it. '.repeat(index % 7)}`;
  return [
    { ...base, message_id: `m${index}`, role: 'user', text: `Question ${index}`, at: index * 10 + 1 },
    { ...base, message_id: null, role: 'assistant', text: reply, at: index * 10 + 2 },
  ];
};
