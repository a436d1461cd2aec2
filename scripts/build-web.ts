import path from 'node:path';
import { buildWebApp, webAppFolder, webApps, type WebApp } from '@svc/service-kit/packages/build-web-app.ts';

// The web apps, of devices and the dashboard: `node scripts/build-web.ts [devices|dashboard]`. A build that is up to date is kept.
const root = path.resolve(import.meta.dirname, '..');
const say = (words: string) => process.stderr.write(`${words}\n`);
const [wanted] = process.argv.slice(2);
for (const app of Object.keys(webApps) as WebApp[]) {
  if (wanted !== undefined && wanted !== app) continue;
  const result = await buildWebApp({ root, app, env: process.env, registry: null, onStep: (words) => say(`${words} …`) });
  say(`${result === 'built' ? 'Built' : 'Up to date'}: ${path.relative(root, webAppFolder(root, app))}`);
}
