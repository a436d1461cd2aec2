import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { buildWebApp, type WebApp } from '@svc/service-kit/packages/build-web-app.ts';
import { chromiumArguments, chromiumProgram, whyNoChromium } from '@svc/testing/chromium.ts';
import { root } from '../../repository.ts';
import type { ScriptedGateway } from './scripted-gateway.ts';

export const whyNoBrowser = whyNoChromium;

/** Opens Debian's Chromium for the shipped build of an app. */
export async function openBrowser(
  more: readonly string[] = [],
  app: WebApp = 'devices',
  executablePath = chromiumProgram,
): Promise<Browser> {
  await buildWebApp({ root, app, env: process.env, registry: null, onStep: () => undefined });
  return await chromium.launch({ executablePath, args: [...chromiumArguments, ...more] });
}

/** A page of a device that was paired by a link. `faults`: the page's errors, and violations of CSP and Trusted Types. */
export async function openPaired(
  context: BrowserContext,
  { url }: Pick<ScriptedGateway, 'url'>,
): Promise<{ page: Page; faults: string[] }> {
  const page = await context.newPage();
  const faults = watch(page);
  await page.goto(`${url}/#pair=right`);
  await isLive(page);
  return { page, faults };
}

export function watch(page: Page): string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) faults.push(message.text());
  });
  return faults;
}

export const isLive = (page: Page): Promise<void> => expect.poll(() => page.locator('.link').textContent()).toBe('Live');

export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.getByRole('button', { name: 'Send message' }).click();
}

/** Records the page's status messages, from any element. */
export const watchStatus = `
  globalThis.told = [];
  new MutationObserver((changes) => {
    const said = changes.flatMap(({ target }) => (target.nodeType === 1 ? target : target.parentElement).closest('[role=status]')?.textContent ?? []);
    told.push(...said);
  }).observe(document.body, { childList: true, characterData: true, subtree: true })`;

/** Counts the bytes that the browser has recorded. */
export const countRecorded = `
  globalThis.recorded = 0;
  const { start } = MediaRecorder.prototype;
  MediaRecorder.prototype.start = function (...given) {
    this.addEventListener('dataavailable', ({ data }) => (recorded += data.size));
    return start.apply(this, given);
  }`;
