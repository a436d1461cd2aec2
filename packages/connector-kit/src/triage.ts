import { text } from 'node:stream/consumers';
import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { TriageResult } from '@svc/contract/triage.ts';
import type { TriageApi } from './connector.ts';
import { createCorePost, toFault, type CorePostOptions } from './core-post.ts';

/** Calls the core's `/v2/triage` on behalf of a sender. */
export function createTriage(options: CorePostOptions): TriageApi {
  const ask = createCorePost(options);
  return async ({ sender, ...question }, signal) => {
    const body = { type: 'application/json', bytes: Buffer.from(JSON.stringify(question)) };
    const answer = await ask(`/v2/triage?${new URLSearchParams({ sender }).toString()}`, body, signal);
    const json = await text(answer).catch((error: unknown) => Promise.reject(toFault(error)));
    // The cast: the status shows that it is such an answer (contract of the core).
    return (parseJsonOrNull(json) as TriageResult).answer;
  };
}
