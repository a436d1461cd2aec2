import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { http } from '@svc/service-kit/builtin.ts';
import { signalProcess } from '@svc/service-kit/process/signal-process.ts';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { skipNote } from '@svc/testing/skip-note.ts';
import { type BadLine, openBadLine } from './dashboard/bad-line.ts';
import { type Account, codeOf, type Dashboard, isLive, loginTokens, openDashboard, signUp } from './dashboard/open-dashboard.ts';
import { openBrowser, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();

/** The one connection of a browser, over a line that falls silent where a test says. */
describe.skipIf(why !== null)(`live connection of the dashboard${skipNote(why)}`, () => {
  let dashboard: Dashboard;
  let line: BadLine;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let account: Account;
  let faults: string[];

  beforeAll(async () => {
    browser = await openBrowser([], 'dashboard');
    dashboard = await openDashboard();
    line = await openBadLine(dashboard.url);
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    await context.clock.install();
    page = await context.newPage();
    faults = watch(page);
    account = await signUp(page, { ...dashboard, url: line.url });
  });
  afterAll(async () => {
    await browser?.close();
    line?.close();
    await dashboard?.house.stop();
  });
  beforeEach(async () => {
    line.isMute = false;
    await page.goto(`${line.url}/people`);
    await isLive(page);
    faults.length = 0;
  });

  const shown = (on: Page = page) => expect.poll(() => on.locator('.link').textContent());
  /** Counts the streams that a page opens from now on, and those that have ended. */
  function streamsOf(of: Page, path = '/live') {
    const streams = { opened: 0, ended: 0 };
    of.on('request', (request) => void (request.url().endsWith(path) && (streams.opened += 1)));
    of.on('requestfailed', (request) => void (request.url().endsWith(path) && (streams.ended += 1)));
    return streams;
  }

  test('[18] after an outage in which the core restarted, the page reads what it missed', async () => {
    await page.locator('.facts tbody tr').first().waitFor();
    line.isMute = true;
    const { house } = dashboard;
    const { urls } = house;
    const person = { key: 'nobody-told', display_name: 'Nobody Told' };
    expect((await house.post(`${urls.core}/trust/principals`, person)).status).toBe(200);
    // Once it is stored, the collector has sent it to every reader.
    const stored = async () => await (await fetch(`${urls.collector}/api/events?limit=50`)).text();
    await expect.poll(stored).toContain('Nobody Told');
    const before = house.pidOf('core');
    signalProcess(before, 'SIGKILL');
    const isBack = async () => house.pidOf('core') !== before && (await fetch(`${urls.core}/health`).catch(() => null))?.status;
    await expect.poll(isBack).toBe(200);
    line.isMute = false;
    await page.clock.fastForward(36_000);
    await page.getByText('Nobody Told').waitFor();
    await isLive(page);
    expect(faults).toEqual([]);
  });

  test('[19] a stream that is silent for 35 s is shown as not connected until a new one sends something', async () => {
    const streams = streamsOf(page);
    await page.clock.fastForward(34_000);
    await shown().toBe('Live');
    expect(streams.opened).toBe(0);
    line.isMute = true;
    await page.clock.fastForward(36_000);
    await shown().toBe('Not connected');
    await page.clock.fastForward(36_000);
    expect(await page.locator('.link').textContent()).toBe('Not connected');
    expect(streams.opened).toBeGreaterThan(0);
    line.isMute = false;
    await page.clock.fastForward(36_000);
    await isLive(page);
    expect(faults).toEqual([]);
  });

  test('[20] tabs share one stream, and a visible tab takes it over from a frozen one', async () => {
    const second = await context.newPage();
    const streams = streamsOf(second);
    await second.goto(`${line.url}/people`);
    await isLive(second);
    expect(streams.opened).toBe(0);
    const browserSide = await context.newCDPSession(page);
    await browserSide.send('Page.setWebLifecycleState', { state: 'frozen' });
    // Both tabs share the clock: a message of the frozen tab, as its own clock jumps, may restart the wait of the other.
    const opened = async () => (await second.clock.fastForward(41_000), streams.opened);
    await expect.poll(opened).toBeGreaterThan(0);
    await isLive(second);
    await browserSide.send('Page.setWebLifecycleState', { state: 'active' });
    await shown().toBe('Live');
    await second.close();
    await shown().toBe('Live');
  });

  test('[20] a hidden tab closes the stream of its conversation, and reopens it when it is visible again', async () => {
    const key = 'compat:compat:session:unseen';
    const content = { text: 'count 2' };
    const { house } = dashboard;
    await house.post(`${house.urls.core}/v2/handle`, {
      channel: 'compat',
      conversation_key: key,
      sender: { raw_id: 'owner' },
      content,
    });
    const streams = streamsOf(page, '/stream');
    await page.goto(`${line.url}/sessions/${encodeURIComponent(key)}`);
    await expect.poll(() => streams.opened).toBe(1);
    await isLive(page);
    const see = (state: string) =>
      page.evaluate(
        `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true }), document.dispatchEvent(new Event('visibilitychange')), 0`,
      );
    await see('hidden');
    await page.clock.fastForward(31_000);
    await expect.poll(() => streams).toEqual({ opened: 1, ended: 1 });
    await see('visible');
    await expect.poll(() => streams).toEqual({ opened: 2, ended: 1 });
  });

  test('when the login has ended, signing in again in one tab is enough for all', async () => {
    const second = await context.newPage();
    await second.goto(`${line.url}/people`);
    await isLive(second);
    const db = new DatabaseSync(path.join(dashboard.house.folder, 'login.db'), { timeout: 10_000 });
    db.exec('DELETE FROM login_session');
    db.close();
    const asked = (of: Page) => of.getByRole('heading', { name: 'Sign in again' });
    for (const of of [page, second]) {
      await of.evaluate("dispatchEvent(new Event('online'))");
      await asked(of).waitFor();
    }
    await second.getByLabel('Password').fill(account.password);
    await second.getByLabel('Code').fill(account.recoveryCodes[1] ?? '');
    await second.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
    for (const of of [second, page]) await asked(of).waitFor({ state: 'detached' });
    await shown().toBe('Live');
    await second.close();
  });

  test('a stream ends within 15 s after its login ends', async () => {
    const { cookie, token } = await loginTokens(dashboard, account, codeOf(account.secret, 1));
    const headers = { cookie, 'x-session-token': token, host: new URL(dashboard.url).host };
    let endedAt = 0;
    const opened = Promise.withResolvers<void>();
    http.get(`${dashboard.url}/live`, { headers }, (response) => {
      response.once('data', () => opened.resolve());
      response.on('error', () => undefined).once('close', () => (endedAt = performance.now()));
    });
    await opened.promise;
    const outAt = performance.now();
    const answer = await fetch(`${dashboard.url}/core/v2/auth/logout`, {
      method: 'POST',
      headers: { cookie, 'x-session-token': token, origin: dashboard.url },
    });
    expect(answer.status).toBe(200);
    await expect.poll(() => endedAt, { timeout: 30_000 }).toBeGreaterThan(0);
    expect(endedAt - outAt).toBeLessThan(16_000);
  });

  test('signing out in one tab leaves nothing in sight in the others', async () => {
    const second = await context.newPage();
    await second.goto(`${line.url}/people`);
    await isLive(second);
    await second.getByRole('button', { name: 'Sign out Anna' }).click();
    for (const of of [second, page]) await of.waitForURL(`${line.url}/login`);
    await second.close();
  });
});
