import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Invitation } from '@svc/contract/device-gateway.ts';
import type { InstanceCallAnswer } from '@svc/contract/instance-call.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { openHouse, waitFor, type House } from '@svc/testing/house.ts';
import { isLive, watch } from './browser.ts';

const id = 'device';

/** An open app. `faults`: the page's errors and policy violations. */
export type OpenDevice = { page: Page; deviceId: string; faults: string[] };

/** The whole service with a device gateway; nothing is scripted. */
export type RealGateway = {
  house: House;
  /** The address of the app. */
  url: string;
  instance(): Promise<Instance>;
  /** A request of `./svc device` to the gateway. */
  call<Result>(method: string, params: object): Promise<Result>;
  /** A device of the owner, with its app open and live; several may have the same name. `baseURL`: the gateway's address, when it is not `url`. */
  openDevice(browser: Browser, name: string, options?: BrowserContextOptions): Promise<OpenDevice>;
};

export async function openRealGateway(env: Record<string, string> = {}): Promise<RealGateway> {
  const house = await openHouse({ env });
  const [port = 0] = await freePorts(1);
  const wanted = { type: 'device', name: 'devices', config: { http_port: port }, enabled: true };
  await house.post(`${house.urls.manager}/instances`, wanted);
  const instance = async () => (await house.get<{ instance: Instance }>(`${house.urls.manager}/instances/${id}`)).instance;
  await waitFor(
    async () => (await instance()).status === 'running',
    60_000,
    () => 'the gateway does not run',
  );
  const url = `http://localhost:${port}`;
  const call = async <Result>(method: string, params: object): Promise<Result> => {
    const { body } = await house.post<InstanceCallAnswer>(`${house.urls.manager}/instances/${id}/call`, { method, params });
    expect(body).toMatchObject({ ok: true });
    return (body as { result: Result }).result;
  };
  let made = 0;
  return {
    house,
    url,
    instance,
    call,
    async openDevice(browser, name, options = {}) {
      const invitation = await call<Invitation>('invite', { name: `${name} ${(made += 1)}` });
      const linked = await house.post(`${house.urls.core}/trust/principals/owner/identifiers`, {
        surface: 'device',
        value: invitation.identity,
      });
      expect(linked.status).toBeLessThan(300);
      const context = await browser.newContext({
        viewport: { width: 390, height: 844 },
        baseURL: url,
        serviceWorkers: 'block',
        ...options,
      });
      const page = await context.newPage();
      const faults = watch(page);
      await page.goto(`/#pair=${invitation.code}`);
      await isLive(page);
      return { page, deviceId: invitation.device_id, faults };
    },
  };
}
