import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { hostAddresses } from '../service-urls.ts';
import { nextTry } from '../status/duration.ts';
import { startsLater, type Status } from '../status/collect-status.ts';
import { portFault } from '@svc/supervisor/port-owner.ts';
import { fine, note, problem, skipped, type Finding } from './finding.ts';

/** What should run: when it does, its processes, instances and engines; when it does not, whether it could. */
export async function examineServices(settings: CliSettings, status: Status, now = Date.now()): Promise<Finding[]> {
  const isRunning = status.supervisor !== null || status.services.some(({ version }) => version !== null);
  if (!isRunning) return [...(await examinePorts(settings)), skipped('services', 'not running; ./svc up starts them')];
  return [...supervisor(status), ...services(status, now), ...instances(status, now), ...(await engines(settings))];
}

async function examinePorts(settings: CliSettings): Promise<Finding[]> {
  return Promise.all(
    hostAddresses(settings).map(async ({ name, port, setting }) => {
      const fault = await portFault(settings.bindHost, port);
      if (fault === null) return fine('port', `${port} is free for the ${name}`);
      return problem('port', `${port} (${name}) ${fault}`, `free it, or set ${setting} to another port`);
    }),
  );
}

const supervisor = (status: Status): Finding[] =>
  (status.supervisor?.faults ?? []).map((fault) =>
    problem('supervisor', fault, 'make room on the disk, or give the folder back its rights'),
  );

/** Why something does not run, and when it is tried again. */
const whyDown = (reason: string, next: string | null): string => (next === null ? reason : `${reason}; ${next}`);

const services = (status: Status, now: number): Finding[] =>
  status.services.flatMap(({ name, url, healthy, reason, version, notices, next_start_at, failures }) => {
    const notes = notices.map((text) => note(name, text));
    if (healthy) return [fine(name, url), ...notes];
    // One that answers has said itself what is wrong.
    if (reason === startsLater) return [problem(name, 'was set up while the service runs', 'stop ./svc up and start it again')];
    const fix = version === null ? `./svc logs ${name}` : 'fix what it names; if this stays, stop ./svc up and start it again';
    return [problem(name, whyDown(reason ?? 'is not healthy', nextTry(next_start_at, failures, now)), fix), ...notes];
  });

const instances = (status: Status, now: number): Finding[] =>
  status.instances.map(({ id, name, type, status: state, healthy, reason, next_start_at }) => {
    if (healthy) return fine('instance', `${name} (${type}) ${state}`);
    if (state === 'waiting' && reason !== null) return problem('instance', reason, './svc vault unseal');
    const look = state === 'failed' ? `./svc connector restart ${id}` : `./svc connector logs ${id}`;
    const fix = reason?.includes('in use') ? 'end that program, or change the port (docs/running.md)' : look;
    const why = whyDown(reason ?? 'no reason given', nextTry(next_start_at ?? null, 0, now));
    return problem('instance', `${name} (${type}) ${state}: ${why}`, fix);
  });

type Engines = {
  engines: { id: string; installed: boolean; version: string | null; ready: boolean; reason: string; default: boolean }[];
};

async function engines(settings: CliSettings): Promise<Finding[]> {
  const core = hostAddresses(settings).find(({ name }) => name === 'core');
  try {
    const { status, body } = await requestJson<Engines>(`${core?.url}/v2/engines`, { timeoutMs: 10_000 });
    if (status !== 200) return [problem('engine', `the core answers with status ${status}`, './svc logs core')];
    return body.engines.map(toFinding);
  } catch (error) {
    return [skipped('engine', `the core does not answer: ${(error as Error).message}`)];
  }
}

/** An engine that is not ready is a problem only when it is the one in use. */
function toFinding({ id, installed, version, ready, reason, default: isDefault }: Engines['engines'][number]): Finding {
  const text = `${id}${version === null ? '' : ` ${version}`}${isDefault ? ' (in use)' : ''}: ${reason}`;
  if (ready) return fine('engine', text);
  if (isDefault)
    return problem(
      'engine',
      text,
      installed ? `log in to ${id}, then start again` : `install ${id}, or unset SVC_DEFAULT_ENGINE`,
    );
  return installed ? note('engine', text) : skipped('engine', text);
}
