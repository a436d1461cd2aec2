import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openBrowser, watch } from '../device-app/browser.ts';
import { type Account, type Dashboard, openDashboard, signUp } from './open-dashboard.ts';

/** `faults`: the page's errors, and violations of CSP and Trusted Types. */
export type SignedIn = {
  dashboard: Dashboard;
  browser: Browser;
  page: Page;
  account: Account;
  faults: string[];
  close(): Promise<void>;
};

/** A running service, and a page without a service worker that is signed in to its new account; it is to be led to where the test begins. */
export async function openSignedIn(env: Record<string, string> = {}, options: BrowserContextOptions = {}): Promise<SignedIn> {
  const browser = await openBrowser([], 'dashboard');
  const dashboard = await openDashboard(env);
  const close = async () => {
    await browser.close();
    await dashboard.house.stop();
  };
  try {
    const page = await browser.newPage({ serviceWorkers: 'block', ...options });
    const faults = watch(page);
    return { dashboard, browser, page, account: await signUp(page, dashboard), faults, close };
  } catch (error) {
    await close();
    throw error;
  }
}
