import { registerHooks } from 'node:module';
import path from 'node:path';

const kitName = '@svc/connector-kit';
const root = path.resolve(import.meta.dirname, '../../../..');

/**
 * Has a connector from outside this repository use the kit of the service, whatever copy of it lies in its own
 * `node_modules`: an error of another copy's class would not be known here, and a copy may be older than the service.
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
