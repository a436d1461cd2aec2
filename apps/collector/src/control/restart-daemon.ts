import type { ErrorBody } from '@svc/contract/error-body.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import { conflict, notFound, unavailable } from '@svc/service-kit/service-error.ts';
import { readSupervisor } from '../system/our-processes.ts';
import { endProcess } from './end-process.ts';
import { ownProcess } from './process-facts.ts';

type Options = {
  stateFile: string;
  managerUrl: string;
  managerToken: Secret | null;
  stopTimeoutMs: number;
  /** Ends this process once its answer is out. */
  restartSelf: () => void;
};

const instanceTimeoutMs = 30_000;

/**
 * Restarts a host process (its supervisor starts it again when it ends) or a connector instance (the manager does).
 * Throws `not_found` for any other name.
 */
export async function restartDaemon(target: string, options: Options): Promise<void> {
  const state = await readSupervisor(options.stateFile);
  const host = state?.services.find(({ name }) => name === target);
  if (host === undefined || state === null) return restartInstance(target, options);
  if (host.pid === null)
    throw conflict(`${target} does not run at the moment; its supervisor is about to start it, or has given up.`);
  if (host.pid === process.pid) return options.restartSelf();
  const facts = await ownProcess(host.pid, state.pid);
  if (!(await endProcess(facts, { patienceMs: options.stopTimeoutMs + 1000 })))
    throw unavailable(`${target} could not be ended.`);
}

async function restartInstance(id: string, { managerUrl, managerToken }: Options): Promise<void> {
  const url = `${managerUrl}/instances/${encodeURIComponent(id)}/restart`;
  const request = { method: 'POST', token: managerToken, timeoutMs: instanceTimeoutMs };
  const { status, body } = await requestJson<ErrorBody | { ok: true }>(url, request).catch((error: unknown) => {
    throw unavailable('The manager, which runs the instances, does not answer.', error);
  });
  if (status === 404) throw notFound('host process or instance', id);
  if (status >= 300) throw conflict(`The manager refused: ${(body as ErrorBody).message}`);
}
