import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Where pictures of all screens go, for who wants to look at them. */
const folder = process.env['TEST_PICTURES'];

type Violation = { id: string; help: string; nodes: { target: string[] }[] };

/** What axe finds, as one line for each rule. */
export async function violations(page: Page): Promise<string[]> {
  const rules = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] };
  if (await page.evaluate('!globalThis.axe')) await page.evaluate(axe);
  const found = (await page.evaluate(
    `axe.run(document, ${JSON.stringify(rules)}).then(({ violations }) => violations)`,
  )) as Violation[];
  return found.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}

/** Takes a picture where one is wanted. */
export async function picture(page: Page, name: string): Promise<void> {
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}-${page.viewportSize()?.width ?? 0}.png`) });
}

const looks = [390, 1280].flatMap((width) => (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })));

/** Pictures of what is open, in each theme at each width, where they are wanted. */
export async function pictures(page: Page, name: string): Promise<void> {
  if (folder === undefined) return;
  for (const { width, colorScheme } of looks) {
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme });
    await picture(page, `${name}-${colorScheme}`);
  }
}

/** What is open as it looks in each theme at each width: what axe finds there. */
export async function violationsInAllLooks(page: Page, name: string): Promise<string[]> {
  const found: string[] = [];
  for (const { width, colorScheme } of looks) {
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme });
    await picture(page, `${name}-${colorScheme}`);
    found.push(...(await violations(page)).map((line) => `${name} at ${width}, ${colorScheme}: ${line}`));
  }
  return found;
}
