import type { EngineView } from '@svc/contract/engine.ts';
import type { EngineChoice } from '@svc/contract/service.ts';
import type { Principal, Role } from '@svc/contract/trust.ts';
import { ask, type Answer } from './ask.ts';

const timeoutMs = 3_000;

/** The requests to the core besides its health: each once, all at the same time. */
export type CoreAnswers = {
  engines: Promise<Answer<{ engines?: EngineView[]; current?: EngineChoice }>>;
  people: Promise<Answer<{ principals?: Principal[] }>>;
  roles: Promise<Answer<{ roles?: Role[] }>>;
  /** Cancels requests that are no longer needed. */
  giveUp(): void;
};

export function askCore(url: string): CoreAnswers {
  const end = new AbortController();
  const options = { timeoutMs, signal: end.signal };
  return {
    engines: ask(`${url}/v2/engines`, options),
    people: ask(`${url}/trust/principals?limit=1000`, options),
    roles: ask(`${url}/trust/roles`, options),
    giveUp: () => end.abort(),
  };
}
