import type { EngineView } from '@svc/contract/engine.ts';
import type { EngineChoice } from '@svc/contract/service.ts';

export type EngineList = { engines: EngineView[]; current: EngineChoice | null };
export const enginesPath = '/core/v2/engines';
