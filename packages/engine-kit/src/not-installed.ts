import type { EngineProbe } from './engine.ts';

/** What is known of an engine whose program is not there. */
export const notInstalled = (reason: string): EngineProbe => ({
  installed: false,
  version: null,
  path: null,
  auth: 'none',
  ready: false,
  reason,
});
