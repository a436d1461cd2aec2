/**
 * Node's HTTP modules, taken without an ES import.
 *
 * `import 'node:http'` reads every export of the module, one of which loads the built-in fetch client: some 40 ms of
 * start and 13 MB in every process. All code of the service takes them from here (a lint rule says so).
 */
export const http = process.getBuiltinModule('node:http');
export type { IncomingMessage, ServerResponse, Server, ClientRequest } from 'node:http';
