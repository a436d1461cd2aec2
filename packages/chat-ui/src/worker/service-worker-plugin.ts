import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** What of a build tool's plugin is used here. */
type Context = { emitFile(file: { type: 'asset'; fileName: string; source: string }): unknown };

const base = path.join(import.meta.dirname, 'service-worker.js');

/**
 * Puts the service worker at the root of an app, with the list of what it keeps: assets with a hash in their name, and the offline page. `more`: files
 * of the app whose text comes after it, for what only this app has.
 */
export function serviceWorker(...more: readonly string[]) {
  return {
    name: 'service-worker',
    apply: 'build' as const,
    // After Vite has taken out the scripts that held nothing but styles: one name too many, and the worker is not installed.
    enforce: 'post' as const,
    generateBundle(this: Context, _options: unknown, bundle: Readonly<Record<string, unknown>>) {
      const assets = Object.keys(bundle).filter((name) => /^assets\/.+-[\w-]{8}\.\w+$/.test(name));
      const version = createHash('sha256').update(assets.toSorted().join('\n')).digest('hex').slice(0, 12);
      const text = [base, ...more].map((file) => readFileSync(file, 'utf8')).join('\n');
      const source = text
        .replace("'__VERSION__'", JSON.stringify(version))
        .replace("'__ASSETS__'", JSON.stringify(assets.map((name) => `/${name}`)));
      this.emitFile({ type: 'asset', fileName: 'service-worker.js', source });
    },
  };
}
