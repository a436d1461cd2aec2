/**
 * Node's HTTP modules, loaded without an ES import.
 *
 * `import 'node:http'` reads every export of the module, one of which loads the built-in fetch client: some 40 ms of
 * start and 13 MB in every process. A lint rule makes all code of the service use these.
 */
export const http = process.getBuiltinModule('node:http');
export type { IncomingMessage, ServerResponse, Server, ClientRequest } from 'node:http';
