import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startChatPlatform, type ChatPlatform } from '@svc/testing/chat-platform/start-chat-platform.ts';
import { installChatConnector } from '@svc/testing/install-chat-connector.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { type Dashboard, isLive, openDashboard, signUp } from './dashboard/open-dashboard.ts';
import { openBrowser, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();
const key = 'platform:platform:user:ann';
const patience = { timeout: 20_000 };

/** A conversation of a chat platform, whose connector is stopped and started, steered from the dashboard. */
describe.skipIf(why !== null)(`steering from the dashboard${skipNote(why)}`, () => {
  const folder = temporaryFolder();
  let platform: ChatPlatform;
  let dashboard: Dashboard;
  let browser: Browser;
  let page: Page;
  let faults: string[];

  beforeAll(async () => {
    platform = await startChatPlatform();
    const config = installChatConnector(folder.path, platform);
    const ann = { key: 'ann', role: 'known', identifiers: [{ surface: 'platform', value: 'ann' }] };
    writeFileSync(path.join(folder.path, 'trust.seed.json'), JSON.stringify({ principals: [ann] }));
    dashboard = await openDashboard({}, folder.path);
    const { house } = dashboard;
    await house.post(`${house.urls.manager}/instances`, { type: 'platform', name: 'Platform', enabled: true, config });
    platform.say({ chat: 'ann', from: 'ann', text: 'echo hello' });
    await arrived('hello');
    browser = await openBrowser([], 'dashboard');
    page = await browser.newPage({ viewport: { width: 1280, height: 900 }, serviceWorkers: 'block' });
    faults = watch(page);
    await signUp(page, dashboard);
    await page.goto(`${dashboard.url}/sessions/${encodeURIComponent(key)}`);
    await isLive(page);
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.house.stop();
    await platform?.close();
    folder.remove();
  });

  let attempts = 0;
  const change = (action: string) => dashboard.house.post(`${dashboard.house.urls.manager}/instances/platform/${action}`);
  const textsLike = (word: string) => platform.replies('ann').filter(({ text }) => text.includes(word));
  const arrived = (word: string) => vi.waitFor(() => expect(textsLike(word)).toHaveLength(1), patience);
  const words = () => page.getByLabel(/Steer as operator; the reply goes to platform/);
  const replyWith = (text: string) => page.locator('.reply', { hasText: text }).last();

  test('[27] an operator message runs after the current turn, or in its place', async () => {
    platform.say({ chat: 'ann', from: 'ann', text: 'wait 3 slow words' });
    await words().fill('echo afterwards');
    await page.getByRole('button', { name: 'Say after this turn' }).click();
    await arrived('slow words');
    await arrived('afterwards');

    platform.say({ chat: 'ann', from: 'ann', text: 'wait 60 never said' });
    await words().fill('echo instead');
    await page.getByRole('button', { name: 'Stop and say' }).click();
    await arrived('instead');
    expect(textsLike('never said')).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('[27] a message is accepted at once, and its delivery is reported when its turn is over', async () => {
    await page.reload();
    const begun = page.waitForResponse(/v2\/inject/);
    await words().fill('wait 5 a long answer');
    await page.getByRole('button', { name: 'Say it' }).click();
    expect((await begun).status()).toBe(200);
    expect(textsLike('a long answer')).toEqual([]);
    await page.getByText('The reply has reached platform').waitFor();
    expect(textsLike('a long answer')).toHaveLength(1);
    expect(faults).toEqual([]);
  });

  test('[27] a message whose answer is lost returns to the input before newer text, and a resend runs once', async () => {
    const ids: string[] = [];
    const asked = Promise.withResolvers<void>();
    const typed = Promise.withResolvers<void>();
    // Unique when the test is retried.
    const lost = `lost words ${(attempts += 1)}`;
    await page.unrouteAll();
    await page.reload();
    await page.route(/v2\/inject/, async (route) => {
      ids.push((route.request().postDataJSON() as { message_id: string }).message_id);
      if (ids.length > 1) return route.continue();
      asked.resolve();
      await typed.promise;
      await route.fetch();
      return route.abort();
    });
    await words().fill(`echo ${lost}`);
    await page.getByRole('button', { name: 'Say it' }).click();
    await asked.promise;
    await words().fill('typed since');
    typed.resolve();
    await expect.poll(() => words().inputValue()).toBe(`echo ${lost}\n\ntyped since`);
    await words().fill(`echo ${lost}`);
    await page.getByRole('button', { name: 'Say it' }).click();
    await page.getByText('The reply has reached platform').waitFor();
    expect(ids).toEqual([ids[0], ids[0]]);
    expect(textsLike(lost)).toHaveLength(1);
    await page.unrouteAll();
  });

  test('[27] a connection that breaks after the message was accepted is reopened until the answer arrives', async () => {
    const ids: string[] = [];
    await page.reload();
    await page.route(/v2\/inject/, (route) => {
      ids.push((route.request().postDataJSON() as { message_id: string }).message_id);
      if (ids.length > 1) return route.continue();
      const body = 'event: accepted\ndata: {"type":"accepted","turn_id":"t"}\n\n';
      return route.fulfill({ contentType: 'text/event-stream', body });
    });
    await words().fill('echo taken words');
    await page.getByRole('button', { name: 'Say it' }).click();
    await page.getByText('The reply has reached platform').waitFor();
    expect(await words().inputValue()).toBe('');
    expect(ids).toEqual([ids[0], ids[0]]);
    await page.unrouteAll();
  });

  test('[27] a draft survives switching to the Facts tab and back', async () => {
    await words().fill('half a thought');
    await page.getByRole('tab', { name: 'Facts' }).click();
    await page.getByRole('tab', { name: 'Transcript' }).click();
    await expect.poll(() => words().inputValue()).toBe('half a thought');
    await words().fill('');
  });

  test('[27] an undelivered reply is marked, also after a reload, until it is delivered', async () => {
    await change('stop');
    await words().fill('echo kept words');
    await page.getByRole('button', { name: 'Say it' }).click();
    const waits = replyWith('kept words').getByText(/Not delivered yet: .*stopped.* It is tried again at/);
    await waits.waitFor();
    await page.reload();
    await waits.waitFor();
    expect(textsLike('kept words')).toEqual([]);

    await change('start');
    await replyWith('kept words').getByRole('button', { name: 'Try now' }).click();
    await arrived('kept words');
    await waits.waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  test('[27] a reply whose delivery failed can be sent again', async () => {
    platform.failNext(/^POST .*messages/, { status: 403, when: 'before' });
    await words().fill('echo refused words');
    await page.getByRole('button', { name: 'Say it' }).click();
    const failed = replyWith('refused words').getByText(/Not delivered: /);
    await failed.waitFor();
    const pictures = process.env['TEST_PICTURES'];
    if (pictures !== undefined) await page.screenshot({ path: path.join(pictures, 'undelivered.png') });
    await replyWith('refused words').getByRole('button', { name: 'Send it again' }).click();
    await arrived('refused words');
    await failed.waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  test('a session of another channel can be found in the list, watched while it runs, and steered', async () => {
    const { urls } = dashboard.house;
    const key = 'compat:compat:session:steered';
    const said = dashboard.house.post(`${urls.core}/v2/handle`, {
      channel: 'compat',
      conversation_key: key,
      sender: { raw_id: 'owner' },
      content: { text: 'wait 3 the first words' },
    });
    await expect.poll(async () => (await fetch(`${urls.core}/v2/session/${encodeURIComponent(key)}`)).status).toBe(200);
    await page.goto(`${dashboard.url}/sessions`);
    await page.locator('.row-link').first().click();
    await page.getByLabel(/Steer as operator; the reply goes to compat/).fill('count 2');
    await page.getByRole('button', { name: /Say/ }).first().click();
    await expect.poll(() => page.locator('.reply').last().textContent()).toMatch(/1\s*2/);
    await page.locator('.reply', { hasText: 'the first words' }).waitFor();
    expect((await said).status).toBe(200);
    expect(faults).toEqual([]);
  });
});
