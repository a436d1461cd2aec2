import { existsSync } from 'node:fs';
import { chromium, type BrowserContext } from 'playwright-core';
import { temporaryFolder } from './temporary-folder.ts';

const executablePath = process.env['TEST_CHROMIUM'] ?? '/usr/bin/chromium';

/** Nothing of its own goes out to the network: what the tests see is what the page does. */
const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Why there is no browser here; null when there is one. */
export const whyNoBrowser = (): string | null => (existsSync(executablePath) ? null : `there is no ${executablePath}`);

/** A real Chromium that nobody used before. To be closed by the test. */
export async function openBrowser(): Promise<{ context: BrowserContext; close(): Promise<void> }> {
  const folder = temporaryFolder();
  const context = await chromium.launchPersistentContext(folder.path, {
    executablePath,
    headless: true,
    acceptDownloads: true,
    args,
  });
  return {
    context,
    async close() {
      await context.close();
      folder.remove();
    },
  };
}
