import path from 'node:path';
import { buildWebApp, webAppFolder } from '@svc/service-kit/packages/build-web-app.ts';

// The app that devices open: `node scripts/build-web.ts`. Done at once when the build fits.
const root = path.resolve(import.meta.dirname, '..');
const say = (words: string) => process.stderr.write(`${words}\n`);
const result = await buildWebApp({ root, env: process.env, registry: null, onStep: (words) => say(`${words} …`) });
say(`${result === 'built' ? 'Built' : 'Fits already'}: ${path.relative(root, webAppFolder(root))}`);
