import { wholeService } from '@svc/contract/control.ts';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { SupervisorState } from '@svc/contract/service.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { birthMark } from '@svc/service-kit/process/birth-mark.ts';
import { signalProcess } from '@svc/service-kit/process/signal-process.ts';
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
  /** Ends this process once its response is sent. */
  restartSelf: () => void;
};

const instanceTimeoutMs = 30_000;

/**
 * Restarts a host process (its supervisor starts it again when it ends), a connector instance (the manager does), or all of the service.
 * Throws `not_found` for any other name.
 */
export async function restartDaemon(target: string, options: Options): Promise<void> {
  const state = await readSupervisor(options.stateFile);
  if (target === wholeService) return restartAll(state);
  const host = state?.services.find(({ name }) => name === target);
  if (host === undefined || state === null) return restartInstance(target, options);
  if (host.pid === null) throw conflict(`${target} is not running. Its supervisor is about to start it, or has given up.`);
  if (host.pid === process.pid) return options.restartSelf();
  const facts = await ownProcess(host.pid, state.pid);
  if (!(await endProcess(facts, { patienceMs: options.stopTimeoutMs + 1000 })))
    throw unavailable(`${target} could not be ended.`);
}

/** Signals the supervisor, which lets turns end and restarts everything, as after an update. Its identity is checked before. */
function restartAll(state: SupervisorState | null): void {
  const isIt = typeof state?.born === 'string' && birthMark(state.pid) === state.born;
  if (state?.starts_again !== true || !isIt)
    throw conflict('This service cannot restart itself. Stop it (Ctrl-C) where it runs, then run ./svc up.');
  signalProcess(state.pid, 'SIGUSR2');
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
