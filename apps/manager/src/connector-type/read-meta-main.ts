import { pathToFileURL } from 'node:url';
import { confineProcess } from '@svc/connector-kit/child/confine-process.ts';
import { shareKit } from '@svc/connector-kit/child/share-kit.ts';
import { errorText } from '@svc/service-kit/service-error.ts';

/** Entry of the process that loads one module and sends its `meta`. */
try {
  const file = process.argv[2] ?? '';
  confineProcess();
  shareKit(file);
  const module = (await import(pathToFileURL(file).href)) as { meta?: unknown };
  process.send?.({ meta: module.meta });
} catch (error) {
  process.send?.({ error: errorText(error) });
}
