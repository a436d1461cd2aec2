import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Invitation } from '@svc/contract/device-gateway.ts';
import type { InstanceCallAnswer } from '@svc/contract/instance-call.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { isAlive, signalProcess } from '@svc/service-kit/process/signal-process.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { openHouse, waitFor, type House } from '@svc/testing/house.ts';
import { isLive, openBrowser, say, watch, whyNoBrowser } from './device-app/browser.ts';

const why = whyNoBrowser();
const id = 'device';

/** All of it is real: the service, its engine that needs no model, the gateway as a connector, the app in Debian's Chromium. */
describe.skipIf(why !== null)(`a device and the service${why === null ? '' : ` (skipped: ${why})`}`, () => {
  let house: House;
  let browser: Browser;
  let url: string;

  const instance = async () => (await house.get<{ instance: Instance }>(`${house.urls.manager}/instances/${id}`)).instance;
  const call = async <Result>(method: string, params: object): Promise<Result> => {
    const { body } = await house.post<InstanceCallAnswer>(`${house.urls.manager}/instances/${id}/call`, { method, params });
    expect(body).toMatchObject({ ok: true });
    return (body as { result: Result }).result;
  };

  beforeAll(async () => {
    browser = await openBrowser();
    house = await openHouse();
    const [port = 0] = await freePorts(1);
    const wanted = { type: 'device', name: 'devices', config: { http_port: port }, enabled: true };
    await house.post(`${house.urls.manager}/instances`, wanted);
    await waitFor(
      async () => (await instance()).status === 'running',
      60_000,
      () => 'the gateway does not run',
    );
    url = `http://localhost:${port}`;
  });
  afterAll(async () => {
    await browser.close();
    await house.stop();
  });

  /** A device of the owner, its app open. */
  async function openDevice(
    name: string,
    permissions: string[] = [],
  ): Promise<{ page: Page; deviceId: string; faults: string[] }> {
    const invitation = await call<Invitation>('invite', { name });
    const linked = await house.post(`${house.urls.core}/trust/principals/owner/identifiers`, {
      surface: 'device',
      value: invitation.identity,
    });
    expect(linked.status).toBeLessThan(300);
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, permissions });
    await context.setGeolocation({ latitude: 52.52, longitude: 13.4 });
    const page = await context.newPage();
    const faults = watch(page);
    await page.goto(`${url}/#pair=${invitation.code}`);
    await isLive(page);
    return { page, deviceId: invitation.device_id, faults };
  }
  const lastReply = (page: Page) => page.locator('.reply').last().textContent();

  test('a message is answered, is there after a reload, and goes on after the gateway was killed', async () => {
    const { page, faults } = await openDevice('Phone');
    await say(page, 'count 3');
    await expect.poll(() => lastReply(page)).toMatch(/1\s*2\s*3/);
    await page.reload();
    await isLive(page);
    await expect.poll(() => lastReply(page)).toMatch(/1\s*2\s*3/);
    await say(page, 'wait 4 still here');
    await expect.poll(() => page.getByText('Thinking').count()).toBeGreaterThan(0);
    const { pid } = await instance();
    signalProcess(pid!, 'SIGKILL');
    await expect.poll(() => isAlive(pid!)).toBe(false);
    await expect.poll(() => lastReply(page)).toContain('still here');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('its engine acts on it: what the owner allows, and what is dangerous with a yes alone', async () => {
    const { page, deviceId, faults } = await openDevice('Tablet', ['geolocation']);
    const use = async (tool: string, params = '{}') => say(page, `tool svc-device.${tool} ${params}`);
    await expect.poll(async () => JSON.stringify(await call('devices', {}))).toContain('"online":true');
    await use('geolocation');
    await expect.poll(() => lastReply(page)).not.toContain('52.52');
    await call('allow', { device_id: deviceId, capability: 'geolocation' });
    await use('geolocation');
    await expect.poll(() => lastReply(page)).toContain('52.52');
    await call('allow', { device_id: deviceId, capability: 'open_url' });
    await use('open_url', '{"url":"https://example.org/"}');
    await page.getByRole('button', { name: 'No' }).click();
    await expect.poll(() => lastReply(page)).toContain('The person has said no to open_url');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('is signed out in the middle of a turn, and nothing of it gets in again', async () => {
    const { page, deviceId } = await openDevice('Lost phone');
    await say(page, 'wait 30 never');
    await expect.poll(() => page.getByText('Thinking').count()).toBeGreaterThan(0);
    await call('revoke', { device_id: deviceId });
    await expect.poll(() => page.locator('.link').textContent()).toBe('Signed out');
    await page.reload();
    await expect.poll(() => page.locator('body').textContent()).toMatch(/signed out|Pair/i);
    await page.context().close();
  });
});
