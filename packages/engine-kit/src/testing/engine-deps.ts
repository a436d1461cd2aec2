import type { EngineDeps } from '../engine.ts';

/** Dependencies for a test: only the environment that it names, no installed engines, and a silent log. */
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
