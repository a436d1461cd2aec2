import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The folder for pictures of all screens, if wanted. */
const folder = process.env['TEST_PICTURES'];

type Violation = { id: string; help: string; nodes: { target: string[] }[] };

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The rules about colours. */
const ofColours = "axe.getRules(tags).filter((rule) => rule.tags.includes('cat.color')).map(({ ruleId }) => ruleId)";

/** The problems that axe finds by all of its rules, or by those about colours, as one line for each rule. */
export async function violations(page: Page, only: 'all' | 'colours' = 'all'): Promise<string[]> {
  if (await page.evaluate('!globalThis.axe')) await page.evaluate(axe);
  const found = (await page.evaluate(`(() => {
    const tags = ${JSON.stringify(tags)};
    const runOnly = ${only === 'all' ? 'tags' : `{ type: 'rule', values: ${ofColours} }`};
    return axe.run(document, { runOnly, resultTypes: ['violations'] }).then(({ violations }) => violations);
  })()`)) as Violation[];
  return found.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}

/** Takes a picture if pictures are wanted. */
export async function picture(page: Page, name: string): Promise<void> {
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}-${page.viewportSize()?.width ?? 0}.png`) });
}

const themes = ['light', 'dark'] as const;
const widths = [390, 1280];

/** Takes pictures of the page in each theme at each width, if they are wanted. */
export async function pictures(page: Page, name: string): Promise<void> {
  if (folder === undefined) return;
  for (const width of widths) {
    await page.setViewportSize({ width, height: 844 });
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme });
      await picture(page, `${name}-${colorScheme}`);
    }
  }
}

/** The problems of the page in each theme, in a window of the current size. */
export async function violationsInThemes(page: Page, name: string): Promise<string[]> {
  // The other theme has other colours, and nothing else (`test/themes.test.ts`).
  return [...(await violationsIn(page, name, 'light', 'all')), ...(await violationsIn(page, name, 'dark', 'colours'))];
}

/** The problems in a wide window in each theme, and in a narrow one, whose colours are the same (`test/themes.test.ts`), in the light theme. */
export async function violationsInAllLooks(page: Page, name: string): Promise<string[]> {
  const [narrow = 0, wide = 0] = widths;
  await page.setViewportSize({ width: narrow, height: 844 });
  const found = await violationsIn(page, name, 'light', 'all');
  if (folder !== undefined) found.push(...(await violationsIn(page, name, 'dark', 'colours')));
  await page.setViewportSize({ width: wide, height: 844 });
  found.push(...(await violationsInThemes(page, name)));
  return found;
}

async function violationsIn(
  page: Page,
  name: string,
  colorScheme: (typeof themes)[number],
  rules: 'all' | 'colours',
): Promise<string[]> {
  await page.emulateMedia({ colorScheme });
  await picture(page, `${name}-${colorScheme}`);
  const where = `${name} at ${page.viewportSize()?.width ?? 0}, ${colorScheme}`;
  return (await violations(page, rules)).map((line) => `${where}: ${line}`);
}
