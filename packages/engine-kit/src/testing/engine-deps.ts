import type { EngineDeps } from '../engine.ts';

/** What a test hands to an engine: only the environment it names, no installed engines, a log that says nothing. */
export const engineDeps = (fields: Partial<EngineDeps> & Pick<EngineDeps, 'stateDir'>): EngineDeps => ({
  enginesDir: `${fields.stateDir}/engines`,
  path: null,
  env: { PATH: process.env.PATH, HOME: fields.stateDir },
  baseUrl: null,
  script: null,
  warm: 4,
  warmMemory: 4 * 1024 ** 3,
  maxLine: 32 * 1024 ** 2,
  log: { debug() {}, info() {}, warn() {} },
  ...fields,
});
