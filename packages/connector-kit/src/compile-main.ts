import { flushCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';
import { shareKit } from './child/share-kit.ts';

/**
 * Entry of the process that loads what a connector process runs, so that its compiled code is in the cache before the
 * first of them starts: one that strips types and compiles by itself holds twice as much memory for as long as it lives.
 */
await import('./child-main.ts'); // also confines this process; its start message never comes
const entry = process.argv[2] ?? '';
shareKit(entry);
// What a connector process loads only when it needs it.
await Promise.all([import('./child/serve-outbound.ts'), import('./fetch-public/fetch-public.ts')]);
await import(pathToFileURL(entry).href);
flushCompileCache();
process.exit(0);
