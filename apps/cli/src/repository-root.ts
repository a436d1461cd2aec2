import path from 'node:path';

/** The root folder of the clone, three levels above this file. */
export const repositoryRoot = path.resolve(import.meta.dirname, '../../..');
