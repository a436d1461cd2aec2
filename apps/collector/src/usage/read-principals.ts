import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Linked } from './fold-people.ts';

export type PrincipalReader = () => Promise<readonly Linked[] | null>;

const timeoutMs = 2000;

/** Asks the core who is linked to whom; null when it is away. */
export function createPrincipalReader(coreUrl: string): PrincipalReader {
  return async () => {
    const answer = await requestJson<{ principals?: Linked[] }>(`${coreUrl}/trust/principals`, { timeoutMs }).catch(() => null);
    return answer?.status === 200 ? (answer.body.principals ?? null) : null; // without it, what was recorded is shown
  };
}
