import type { Page } from 'playwright-core';

/** Goes to a screen as its link would, without loading the page again; by way of one that has nothing, so that all that is shown is of this one. */
export async function go(page: Page, place: string): Promise<void> {
  const nothing = page.getByText('This page does not exist.');
  await page.evaluate("history.pushState({}, '', '/nothing/is/here')");
  await nothing.waitFor();
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(place)})`);
  await nothing.waitFor({ state: 'detached' });
}
