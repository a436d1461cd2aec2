import { registerHooks } from 'node:module';
import path from 'node:path';

const kitName = '@svc/connector-kit';
const root = path.resolve(import.meta.dirname, '../../../..');

/**
 * Makes a connector from outside this repository use the service's own kit, whatever copy lies in its `node_modules`: error classes of
 * another copy would not be recognized, and the copy may be older than the service.
 */
export function shareKit(entry: string): void {
  if (entry.startsWith(path.join(root, 'connectors') + path.sep)) return;
  registerHooks({
    resolve(specifier, context, next) {
      const isKit = specifier === kitName || specifier.startsWith(`${kitName}/`);
      return isKit ? next(specifier, { ...context, parentURL: import.meta.url }) : next(specifier, context);
    },
  });
}
