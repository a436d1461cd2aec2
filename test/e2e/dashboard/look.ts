import type { Page } from 'playwright-core';
import type { Dashboard } from './open-dashboard.ts';
import { sideways } from './sideways.ts';
import { violationsInAllLooks } from './violations.ts';

/** Another page of the same login, to be checked in each size and colour scheme. `found`: the problems. */
export async function openLook(page: Page, { url }: Pick<Dashboard, 'url'>) {
  // A second factor changes the cookie of the login, so the current one is copied.
  const storageState = await page.context().storageState();
  const context = await page.context().browser()?.newContext({ bypassCSP: true, serviceWorkers: 'block', storageState });
  if (context === undefined) throw new Error('the browser is closed');
  const shown = await context.newPage();
  const found: string[] = [];
  return {
    shown,
    found,
    close: () => context.close(),
    async show(place: string, ready: string): Promise<void> {
      await shown.goto(url + place);
      await shown.locator(ready).first().waitFor();
    },
    async look(name: string): Promise<void> {
      found.push(...(await violationsInAllLooks(shown, name)));
      for (const width of [1280, 390, 320]) {
        await shown.setViewportSize({ width, height: 844 });
        const over = await shown.evaluate<number>(sideways);
        if (over > 0) found.push(`${name} at ${width} is ${over} px too wide`);
      }
    },
  };
}
