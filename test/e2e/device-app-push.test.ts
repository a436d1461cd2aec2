import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import type { HandleResult } from '@svc/contract/turn.ts';
import { webAppFolder } from '@svc/service-kit/packages/build-web-app.ts';
import { wholeChromium } from '@svc/testing/chromium.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { testUnless } from '@svc/testing/skip-note.ts';
import { openGateway } from '../../packages/device-gateway/test/open-gateway.ts';
import { createBrowser, startPushService } from '../../packages/device-gateway/test/push-service.ts';
import { root } from '../repository.ts';
import { isLive, openBrowser, say, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser(wholeChromium);
let chromium: Browser;
beforeAll(async () => {
  if (why === null) chromium = await openBrowser([], 'devices', wholeChromium);
}, 300_000);
afterAll(() => chromium?.close());

/** Replaces the push service of Chromium: subscribing returns the subscription of the test. */
const subscribeHere = (subscription: object) => `{
  const subscription = ${JSON.stringify(subscription)};
  const made = { ...subscription, toJSON: () => subscription, unsubscribe: async () => (localStorage.removeItem('subscribed'), true) };
  PushManager.prototype.getSubscription = async () => (localStorage.getItem('subscribed') === null ? null : made);
  PushManager.prototype.subscribe = async () => (localStorage.setItem('subscribed', 'yes'), made);
}`;

/** Returns a function that delivers a push message to the service worker of a page. */
async function pushService(context: BrowserContext, page: Page): Promise<(message: unknown) => Promise<void>> {
  const { origin } = new URL(page.url());
  const session = await context.newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const own = registrations.find(({ scopeURL }) => scopeURL.startsWith(origin));
      if (own !== undefined) resolve(own.registrationId);
    });
  });
  await session.send('ServiceWorker.enable');
  const registrationId = await registered;
  return async (message) => {
    await session.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data: JSON.stringify(message) });
  };
}

/** The notifications of the service worker. */
const shown = (context: BrowserContext): Promise<unknown> =>
  context.serviceWorkers()[0]!.evaluate('registration.getNotifications().then((all) => all.map(({ body }) => body))');

/** Closes all notifications, and counts the push messages that are handled from then on. */
const forgetShown = (context: BrowserContext): Promise<unknown> =>
  context.serviceWorkers()[0]!.evaluate(`(async () => {
    for (const notice of await registration.getNotifications()) notice.close();
    globalThis.pushes = 0;
    const { waitUntil } = ExtendableEvent.prototype;
    ExtendableEvent.prototype.waitUntil = function (work) {
      waitUntil.call(this, Promise.resolve(work).finally(() => pushes++));
    };
  })()`);

testUnless(why)(
  'notifies of an answer when the app is closed, but not when it is visible',
  async () => {
    const browser = createBrowser();
    const service = await startPushService([browser]);
    const clock = createFakeClock(Date.now());
    const gateway = await openGateway({}, {}, { appFolder: webAppFolder(root, 'devices'), network: service.network, clock });
    const { url } = await gateway.invite('Phone');
    const origin = new URL(url).origin;
    const context = await chromium.newContext({ permissions: ['notifications'] });
    await context.addInitScript(subscribeHere(browser.subscription));
    const page = await context.newPage();
    const faults = watch(page);
    await page.goto(url);
    await isLive(page);

    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByLabel('Notify me of answers').click();
    await expect.poll(() => page.getByLabel('Notify me of answers').isChecked()).toBe(true);
    expect(await gateway.fake().context.state.list('push/')).toHaveLength(1);
    await page.keyboard.press('Escape');

    let answer: (result: HandleResult) => void = () => undefined;
    gateway.core().script = ({ result }) =>
      new Promise((resolve) => (answer = () => resolve(result({ actions: [{ type: 'reply', text: 'The secret answer.' }] }))));
    await say(page, 'How long will it take?');
    await expect.poll(() => gateway.core().turns.length).toBe(1);
    const deliver = await pushService(context, page);
    await page.goto('about:blank');
    await expect.poll(async () => (await gateway.listed())[0]?.online).toBe(false);
    answer({} as HandleResult);
    await expect.poll(() => (clock.advance(5_000), service.pushed.length)).toBe(1);
    expect(service.pushed[0]?.message).toEqual({ type: 'answer' });

    // A worker that is not active yet gets no push message, so it is sent until it arrives; a notice replaces the one before.
    const { message } = service.pushed[0]!;
    await expect.poll(async () => (await deliver(message), shown(context))).toEqual(['An answer is ready.']);

    await page.goto(origin);
    await isLive(page);
    await forgetShown(context);
    await deliver(message);
    await expect.poll(() => context.serviceWorkers()[0]!.evaluate('pushes')).toBe(1);
    expect(await shown(context)).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  },
  120_000,
);

testUnless(why)('shows that a browser does not allow notifications, as in a private window', async () => {
  const gateway = await openGateway({}, {}, { appFolder: webAppFolder(root, 'devices') });
  const { url } = await gateway.invite('Phone');
  const context = await chromium.newContext({ permissions: ['notifications'] });
  const page = await context.newPage();
  await page.goto(url);
  await isLive(page);
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByLabel('Notify me of answers').click();
  await page.getByText('This browser does not allow notifications; in a private window they never work.').waitFor();
  expect(await page.getByLabel('Notify me of answers').isChecked()).toBe(false);
  await context.close();
});

testUnless(why)(
  'restores a lost subscription until the device signs out',
  async () => {
    const browser = createBrowser();
    const service = await startPushService([browser]);
    const gateway = await openGateway({}, {}, { appFolder: webAppFolder(root, 'devices'), network: service.network });
    const context = await chromium.newContext({ permissions: ['notifications'] });
    await context.addInitScript(subscribeHere(browser.subscription));
    const page = await context.newPage();
    const faults = watch(page);
    await page.goto((await gateway.invite('Phone')).url);
    await isLive(page);
    const subscribed = async () => (await gateway.fake().context.state.list('push/')).map(({ key }) => key.slice('push/'.length));
    const first = (await gateway.listed())[0]!.device_id;
    const isTold = page.getByLabel('Notify me of answers');
    const openSettings = () => page.getByRole('button', { name: 'Settings' }).click();
    const restart = async () => {
      await page.reload();
      await isLive(page);
    };

    await openSettings();
    await isTold.click();
    await expect.poll(subscribed).toEqual([first]);
    await gateway.fake().context.state.delete(`push/${first}`);
    await restart();
    await expect.poll(subscribed).toEqual([first]);

    await gateway.fake().context.state.delete(`push/${first}`);
    await page.evaluate('localStorage.clear()');
    await restart();
    await expect.poll(subscribed).toEqual([first]);

    await gateway.fake().context.state.delete(`push/${first}`);
    await expect.poll(() => context.serviceWorkers().length).toBe(1);
    await context.serviceWorkers()[0]!.evaluate(`(() => {
      PushManager.prototype.getSubscription = async () => null;
      PushManager.prototype.subscribe = async () => (${JSON.stringify(browser.subscription)});
      dispatchEvent(new ExtendableEvent('pushsubscriptionchange'));
    })()`);
    await expect.poll(subscribed).toEqual([first]);

    await openSettings();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out this device' }).click();
    await expect.poll(() => page.evaluate('localStorage.length')).toBe(0);
    await page.goto((await gateway.invite('Phone again')).url);
    await page.reload();
    await isLive(page);
    await openSettings();
    await expect.poll(() => isTold.isEnabled()).toBe(true);
    expect([await isTold.isChecked(), await subscribed()]).toEqual([false, []]);
    await isTold.click();
    await expect.poll(subscribed).toEqual([(await gateway.listed())[0]!.device_id]);
    expect(faults).toEqual([]);
    await context.close();
  },
  120_000,
);
