import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { nextTry } from '../status/duration.ts';
import type { Status } from '../status/collect-status.ts';
import { fine, note, problem, skipped, type Finding } from './finding.ts';

/** The expected processes: when the service runs, they, its instances and engines; otherwise, whether it could start. */
export async function examineServices(settings: CliSettings, status: Status, now = Date.now()): Promise<Finding[]> {
  const isRunning = status.supervisor !== null || status.services.some(({ version }) => version !== null);
  if (!isRunning) {
    const { examinePorts } = await import('./examine-ports.ts');
    return [...(await examinePorts(settings)), skipped('services', 'not running; ./svc up starts them')];
  }
  return [...supervisor(status), ...services(status, now), ...instances(status, now)];
}

const supervisor = (status: Status): Finding[] =>
  (status.supervisor?.faults ?? []).map((fault) =>
    problem('supervisor', fault, 'free space on the disk, or restore the permissions of the folder'),
  );

/** Why a process is down, and when it is started again. */
const whyDown = (reason: string, next: string | null): string => (next === null ? reason : `${reason}; ${next}`);

const services = (status: Status, now: number): Finding[] =>
  status.services.flatMap(({ name, url, healthy, reason, fix, notices, next_start_at, failures }) => {
    const notes = notices.map((text) => note(name, text));
    if (healthy) return [fine(name, url), ...notes];
    const why = whyDown(reason ?? 'is not healthy', nextTry(next_start_at, failures, now));
    return [problem(name, why, fix ?? `./svc logs ${name}`), ...notes];
  });

const instances = (status: Status, now: number): Finding[] =>
  status.instances.map(({ id, name, type, status: state, healthy, reason, fix, next_start_at }) => {
    if (healthy) return fine('instance', `${name} (${type}) ${state}`);
    if (state === 'waiting' && reason !== null) return problem('instance', reason, './svc vault unseal');
    const why = whyDown(reason ?? 'the reason is unknown', nextTry(next_start_at ?? null, 0, now));
    return problem('instance', `${name} (${type}) ${state}: ${why}`, fix ?? `./svc connector logs ${id}`);
  });
