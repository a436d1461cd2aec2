import { pathToFileURL } from 'node:url';
import { errorText } from '@svc/service-kit/service-error.ts';

/** Entry of the process that loads one module and tells its `meta`. */
try {
  const module = (await import(pathToFileURL(process.argv[2] ?? '').href)) as { meta?: unknown };
  process.send?.({ meta: module.meta });
} catch (error) {
  process.send?.({ error: errorText(error) });
}
