import type { Page } from 'playwright-core';
import { onTestFailed } from 'vitest';
import type { Dashboard } from './open-dashboard.ts';

/** Goes to a screen as a link does, without reloading the page; by way of an empty screen, so that nothing of the screen before is left. */
export async function go(page: Page, place: string): Promise<void> {
  const nothing = page.getByText('This page does not exist.');
  await page.evaluate("history.pushState({}, '', '/nothing/is/here')");
  await nothing.waitFor();
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(place)})`);
  await nothing.waitFor({ state: 'detached' });
}

/**
 * Opens a screen in a test. Goes there, which takes a fifth of the CPU of a load, unless no screen is open yet, a dialog is open, or the previous
 * test has failed: then it loads the page.
 */
export async function openScreen(page: Page, { url }: Pick<Dashboard, 'url'>, place: string): Promise<void> {
  onTestFailed(async () => void (await page.goto('about:blank')));
  const canGo = "document.querySelector('.shell') !== null && document.querySelector('dialog[open]') === null";
  if (await page.evaluate(canGo)) await go(page, place);
  else await page.goto(url + place);
}
