import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { conflict, errorText } from '@svc/service-kit/service-error.ts';
import type { ActiveEngine } from './engine-pool.ts';
import type { EngineRegistry } from './engine-registry.ts';
import { BrokenVersion } from './install-version.ts';
import type { EngineId } from './load-engine.ts';

/** Has an engine answer one real request. @throws with its failure */
export type AnswerOnce = (active: ActiveEngine) => Promise<unknown>;

type Verification = {
  registry: Pick<EngineRegistry, 'makeAt' | 'open'>;
  id: EngineId;
  version: string;
  /** The folder of the version, beside the one in use. */
  folder: string;
  answerOnce: AnswerOnce;
  signal: AbortSignal;
};

/**
 * Has a version answer once beside the one in use, with the same model, login and settings. If it fails while the one in use answers, it is broken.
 * @throws BrokenVersion; ServiceError `conflict` when neither answers, because that proves nothing about the version, or when the service stops
 */
export async function verifyVersion({ registry, id, version, folder, answerOnce, signal }: Verification): Promise<void> {
  const used = await registry.open(id);
  const stateDir = path.join(folder, '.verify');
  rmSync(stateDir, { recursive: true, force: true });
  mkdirSync(stateDir, { mode: 0o700 });
  const engine = await registry.makeAt(id, folder, stateDir);
  try {
    const fault = await faultOf(answerOnce({ ...used, engine }), signal);
    if (fault === null) return;
    const usedFault = await faultOf(answerOnce(used), signal);
    if (usedFault !== null)
      throw conflict(`Neither ${version} nor the version in use answers at the moment, so the update is postponed: ${usedFault}`);
    throw new BrokenVersion(`${id} ${version}`, fault);
  } finally {
    await engine.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** Why there was no answer; null when there was one. @throws ServiceError `conflict` as soon as the service stops */
async function faultOf(answer: Promise<unknown>, signal: AbortSignal): Promise<string | null> {
  const stopped = Promise.withResolvers<never>();
  const onAbort = () => stopped.reject(conflict('The service is stopping, so nothing is installed.'));
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  const fault = answer.then(() => null, errorText);
  try {
    return await Promise.race([fault, stopped.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
