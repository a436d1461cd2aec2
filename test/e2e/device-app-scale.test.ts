import type { HistoryMessage } from '@svc/contract/session.ts';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { skipNote } from '@svc/testing/skip-note.ts';
import { openBrowser, openPaired, whyNoBrowser } from './device-app/browser.ts';
import { type ScriptedGateway, startScriptedGateway } from './device-app/scripted-gateway.ts';

const why = whyNoBrowser();
const maxNodes = 1500;
const maxHeapMb = 40;

const pair = (index: number): HistoryMessage[] => {
  const base = {
    turn_id: `t${index}`,
    sender: 'd_1',
    state: 'delivered',
    outcome: 'replied',
    attachments: [],
    tools: [],
  } as const;
  const reply = `Answer **${index}** with \`code\` and a list:\n\n- one\n- two\n\n${'Some words of it. '.repeat(index % 7)}`;
  return [
    { ...base, attachments: [], tools: [], message_id: `m${index}`, role: 'user', text: `Question ${index}`, at: index * 10 + 1 },
    { ...base, attachments: [], tools: [], message_id: null, role: 'assistant', text: reply, at: index * 10 + 2 },
  ];
};

describe.skipIf(why !== null)(`large conversations in the app of a device${skipNote(why)}`, () => {
  let browser: Browser;
  let gateway: ScriptedGateway;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    browser = await openBrowser(['--js-flags=--expose-gc']);
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    gateway = await startScriptedGateway();
    context = await browser.newContext({ viewport: { width: 1280, height: 800 }, serviceWorkers: 'block' });
  });
  afterEach(async () => {
    await context.close();
    gateway.close();
  });

  const scrollTop = () => page.evaluate('document.querySelector(".transcript").scrollTop') as Promise<number>;
  const fromEnd = () =>
    page.evaluate(
      '(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)(document.querySelector(".transcript"))',
    ) as Promise<number>;

  test(`[22] 10,000 messages take at most ${maxNodes} nodes and ${maxHeapMb} MB, and the newest is visible`, async () => {
    gateway.script.history = Array.from({ length: 5000 }, (_, index) => pair(index)).flat();
    gateway.script.pageSize = 10_000;
    ({ page } = await openPaired(context, gateway));
    await expect.poll(() => page.locator('.bubble').last().textContent()).toBe('Question 4999');
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThanOrEqual(maxNodes);
    const heap = (await page.evaluate('gc(), performance.memory.usedJSHeapSize / 1e6')) as number;
    expect(heap).toBeLessThanOrEqual(maxHeapMb);
    await expect.poll(fromEnd).toBeLessThanOrEqual(2);
  });

  test('[23] loading older messages does not move the visible ones', async () => {
    gateway.script.history = Array.from({ length: 200 }, (_, index) => pair(index)).flat();
    ({ page } = await openPaired(context, gateway));
    await page.locator('.bubble').first().waitFor();
    // The newest may be read once more, at any time.
    const isAsked = () => gateway.calls.some(({ path, query }) => path === '/gw/history' && query.has('before'));
    await page.locator('.transcript').hover();
    while (!isAsked()) await page.mouse.wheel(0, -200);
    const place = (text: string) =>
      page.evaluate(
        `[...document.querySelectorAll('.bubble')].find((bubble) => bubble.textContent === ${JSON.stringify(text)})?.getBoundingClientRect().top`,
      ) as Promise<number | undefined>;
    const seen = String(await page.locator('.bubble').first().textContent());
    await expect.poll(() => page.locator('article').first().getAttribute('aria-setsize')).not.toBe('25');
    const first = await place(seen);
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    const second = await place(seen);
    expect(first).toBeDefined();
    expect(Math.abs((first ?? 0) - (second ?? Infinity))).toBeLessThanOrEqual(2);
  });

  test('[25] a new reply does not scroll down a reader who has scrolled up, but is announced', async () => {
    gateway.script.history = Array.from({ length: 25 }, (_, index) => pair(index)).flat();
    ({ page } = await openPaired(context, gateway));
    await page.locator('.bubble').first().waitFor();
    await page.locator('.transcript').hover();
    await page.mouse.wheel(0, -700);
    await page.getByRole('button', { name: 'Newest' }).waitFor();
    const before = await scrollTop();
    gateway.send('inject', {
      turn_id: 'x',
      origin: 'message',
      channel: 'device',
      sender: 'd_1',
      message_id: null,
      text: 'new',
      attachments: [],
    });
    for (let index = 0; index < 50; index += 1) gateway.send('delta', { turn_id: 'x', text: `Line ${index}\n\n` });
    gateway.send('done', { turn_id: 'x', outcome: 'replied', text: 'over' });
    await expect.poll(() => page.locator('.unseen[role=status]').textContent()).toBe('Answer ready');
    expect(Math.abs((await scrollTop()) - before)).toBeLessThanOrEqual(2);
    await page.getByRole('button', { name: 'Newest' }).click();
    await expect.poll(() => page.locator('.reply').last().textContent()).toMatch(/over/);
  });

  test('[24] a streaming reply redraws only its own row, at most 20 times a second', async () => {
    gateway.script.history = Array.from({ length: 25 }, (_, index) => pair(index)).flat();
    ({ page } = await openPaired(context, gateway));
    await page.locator('.bubble').first().waitFor();
    gateway.send('inject', {
      turn_id: 'x',
      origin: 'message',
      channel: 'device',
      sender: 'd_1',
      message_id: null,
      text: 'new',
      attachments: [],
    });
    await expect.poll(() => page.locator('.bubble').last().textContent()).toBe('new');
    await page.evaluate(`
      globalThis.counts = { other: 0, own: 0, from: performance.now() };
      new MutationObserver((changes) => {
        const rows = new Set(changes.map(({ target }) => (target.nodeType === 1 ? target : target.parentElement)?.closest('article')?.ariaPosInSet));
        for (const row of rows) if (row != null) counts[row === '26' ? 'own' : 'other'] += 1;
      }).observe(document.querySelector('.rows'), { childList: true, characterData: true, subtree: true })`);
    const words = Array.from({ length: 200 }, (_, index) => `word${index} `);
    for (const word of words) {
      gateway.send('delta', { turn_id: 'x', text: word });
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await expect.poll(() => page.locator('.markdown').last().textContent()).toMatch(/word199/);
    const { other, own, seconds } = (await page.evaluate(
      '({ ...counts, seconds: (performance.now() - counts.from) / 1000 })',
    )) as {
      other: number;
      own: number;
      seconds: number;
    };
    expect(other).toBe(0);
    expect(own).toBeGreaterThan(3);
    expect(own / seconds).toBeLessThanOrEqual(21);
  });
});
