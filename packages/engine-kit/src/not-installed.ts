import type { EngineProbe } from './engine.ts';

/** The probe result of an engine whose program is missing. */
export const notInstalled = (reason: string): EngineProbe => ({
  installed: false,
  version: null,
  path: null,
  auth: 'none',
  ready: false,
  reason,
});
