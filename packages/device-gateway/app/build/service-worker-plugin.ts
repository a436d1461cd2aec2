import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'vite';

const source = path.join(import.meta.dirname, '../src/worker/service-worker.js');

/** Puts the service worker at the root of the app, with the list of what it keeps: assets with a hash in their name, and the offline page. */
export function serviceWorker(): Plugin {
  return {
    name: 'service-worker',
    apply: 'build',
    generateBundle(_options, bundle) {
      const assets = Object.keys(bundle).filter((name) => /^assets\/.+-[\w-]{8}\.\w+$/.test(name));
      const version = createHash('sha256').update(assets.toSorted().join('\n')).digest('hex').slice(0, 12);
      const text = readFileSync(source, 'utf8')
        .replace("'__VERSION__'", JSON.stringify(version))
        .replace("'__ASSETS__'", JSON.stringify(assets.map((name) => `/${name}`)));
      this.emitFile({ type: 'asset', fileName: 'service-worker.js', source: text });
    },
  };
}
