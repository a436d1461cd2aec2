import { flushCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';
import { shareKit } from './child/share-kit.ts';

/**
 * Entry of a process that loads what a connector process runs, so that the compiled code is cached before the first of them starts. A
 * process that strips types and compiles itself needs twice as much memory for its whole life.
 */
await import('./child-main.ts'); // also confines this process; its start message never comes
const entry = process.argv[2] ?? '';
shareKit(entry);
// Modules that a connector process loads only when it needs them.
await Promise.all([import('./child/serve-outbound.ts'), import('./fetch-public/fetch-public.ts')]);
await import(pathToFileURL(entry).href);
flushCompileCache();
process.exit(0);
