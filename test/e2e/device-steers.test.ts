import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { skipNote } from '@svc/testing/skip-note.ts';
import { isLive, openBrowser, say, whyNoBrowser } from './device-app/browser.ts';
import { openRealGateway, type RealGateway } from './device-app/real-gateway.ts';

const why = whyNoBrowser();

/** The numbers are those of the study of the dashboard. */
describe.skipIf(why !== null)(`steering from a device${skipNote(why)}`, () => {
  let gateway: RealGateway;
  let browser: Browser;

  beforeAll(async () => {
    browser = await openBrowser();
    gateway = await openRealGateway();
    const identifier = { surface: 'messenger', value: '4711' };
    await gateway.house.post(`${gateway.house.urls.core}/trust/principals/owner/identifiers`, identifier);
  });
  afterAll(async () => {
    await browser.close();
    await gateway.house.stop();
  });

  const envelope = (text: string) => ({
    channel: 'messenger',
    conversation_key: 'messenger:gone:chat:4711',
    sender: { raw_id: '4711' },
    content: { text },
    channel_context: { target: '4711' },
  });
  const tell = (text: string) => gateway.house.post(`${gateway.house.urls.core}/v2/handle`, envelope(text));

  test('[27] says where the reply goes, waits for the turn or ends it, and names a reply that did not arrive', async () => {
    await tell('hello');
    const { page, faults } = await gateway.openDevice(browser, 'Phone', { viewport: { width: 1280, height: 800 } });
    await page.getByRole('button', { name: /Telegram/ }).click();
    await isLive(page);
    await expect.poll(() => page.locator('.place').textContent()).toMatch(/The reply goes to Telegram\.$/);

    const first = tell('wait 20 first');
    await expect.poll(() => page.getByText('Thinking').count()).toBe(1);
    await page.getByLabel('Message', { exact: true }).fill('count 3');
    await page.getByRole('button', { name: 'Send after this turn' }).click();
    await expect.poll(() => page.getByText(/^Waiting/).count()).toBe(1);
    await page.getByLabel('Message', { exact: true }).fill('count 2');
    await page.getByRole('button', { name: 'Stop and say' }).click();
    await expect.poll(() => page.getByText('Stopped.').count()).toBe(1);
    await first;
    await expect
      .poll(() => page.locator('.reply .markdown').allTextContents())
      .toEqual(expect.arrayContaining([expect.stringMatching(/1\s*2\s*3/)]));
    await expect.poll(() => page.getByText(/Not delivered: /).count()).toBe(2);
    expect(await page.locator('.said .bubble').allTextContents()).toEqual(
      expect.arrayContaining(['hello', 'wait 20 first', 'count 3', 'count 2']),
    );
    expect(await page.locator('.said').count()).toBe(4);
    await page.reload();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('what is said to another device of the person is shown there, and is delivered', async () => {
    const tablet = await gateway.openDevice(browser, 'Tablet');
    await say(tablet.page, 'count 1');
    await expect.poll(() => tablet.page.locator('.reply').count()).toBe(1);
    const phone = await gateway.openDevice(browser, 'Other phone', { viewport: { width: 1280, height: 800 } });
    await phone.page
      .getByRole('button', { name: /a device/ })
      .first()
      .click();
    await isLive(phone.page);
    await say(phone.page, 'count 4');
    await expect.poll(() => tablet.page.locator('.reply').last().textContent()).toMatch(/1\s*2\s*3\s*4/);
    await expect.poll(() => phone.page.locator('.reply').last().textContent()).toMatch(/1\s*2\s*3\s*4/);
    expect(await phone.page.getByText(/Not delivered/).count()).toBe(0);
    expect([...tablet.faults, ...phone.faults]).toEqual([]);
    await Promise.all([tablet.page.context().close(), phone.page.context().close()]);
  });
});
