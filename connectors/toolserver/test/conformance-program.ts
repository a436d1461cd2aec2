import path from 'node:path';

/** The suite of the protocol's authors. */
export const conformanceProgram = path.join(
  import.meta.dirname,
  '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js',
);
