import path from 'node:path';

/** The folder of the clone, three above this file. */
export const repositoryRoot = path.resolve(import.meta.dirname, '../../..');
