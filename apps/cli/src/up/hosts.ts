import type { SupervisorState } from '@svc/contract/service.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { createHost, type Host, type HostOptions, type HostSpec } from './host.ts';

type Options = Omit<HostOptions, 'isFirstStart'>;

export type Hosts = {
  /** Spawns all at once; resolves when each is up, has failed, or `waitMs` is over. */
  start(waitMs: number): Promise<void>;
  /** The collector stops last, so that the others can send it their events. `isHurried`: all at once; events are sent after the restart. */
  stop(isHurried?: boolean): Promise<void>;
  killNow(): void;
  state(): SupervisorState['services'];
  /** Faults of the supervisor's own work for them, such as writing their logs. */
  faults(): string[];
};

export function createHosts(specs: readonly HostSpec[], options: Options): Hosts {
  let isStarting = false;
  const hosts = specs.map((spec) => createHost(spec, { ...options, isFirstStart: () => isStarting }));
  const stopAll = (some: readonly Host[]) => Promise.all(some.map((host) => host.stop()));
  return {
    async start(waitMs) {
      isStarting = true;
      const up = Promise.all(hosts.map((host) => host.start()));
      let cancel = () => {};
      const patience = new Promise((resolve) => {
        cancel = systemClock.after(waitMs, () => resolve(undefined));
      });
      await Promise.race([up, patience]);
      cancel();
      isStarting = false;
    },
    async stop(isHurried = false) {
      if (isHurried) return void (await stopAll(hosts));
      await stopAll(hosts.filter((host) => host.name !== 'collector'));
      await stopAll(hosts.filter((host) => host.name === 'collector'));
    },
    killNow() {
      for (const host of hosts) host.killNow();
    },
    state: () => hosts.map((host) => host.view()),
    faults: () => hosts.flatMap((host) => host.logFault() ?? []),
  };
}
