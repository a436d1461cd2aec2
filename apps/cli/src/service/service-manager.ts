import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomic } from '@svc/service-kit/files.ts';
import { runProgram, type ProgramResult } from '@svc/service-kit/process/run-program.ts';
import { CliError } from '../cli-error.ts';
import { mark, renderAgent, renderUnit, type Startup } from './unit-file.ts';

/** What a person may ask for. */
export type ServiceAction = 'install' | 'remove' | 'status';

export type ServiceState = {
  /** File of the unit or agent; null when this installation has none. */
  file: string | null;
  isRunning: boolean;
  /** Whether it starts with the user's session. */
  isEnabled: boolean;
  /** Whether it also runs when nobody is logged in; null when this does not apply. */
  lingers: boolean | null;
};

/** The program that starts the service with the machine: systemd's user manager, or launchd. */
export type ServiceManager = {
  install(startup: Startup): Promise<void>;
  remove(): Promise<void>;
  state(): Promise<ServiceState>;
  /** The command that shows its output. */
  logCommand: string;
};

export type Machine = {
  platform: NodeJS.Platform;
  root: string;
  home: string;
  user: string;
  uid: number;
  env: Readonly<Record<string, string | undefined>>;
  /** The log file of a launchd agent. */
  logFile: string;
};

const timeoutMs = 60_000;

/** @throws CliError when the machine has neither of the two */
export function openServiceManager(machine: Machine): ServiceManager {
  if (machine.platform === 'linux') return systemd(machine);
  if (machine.platform === 'darwin') return launchd(machine);
  throw new CliError(`automatic start is not supported on ${machine.platform}.`, {
    why: 'systemd and launchd are supported. Configure your system to run "./svc up".',
  });
}

function systemd(machine: Machine): ServiceManager {
  const folder = path.join(machine.env['XDG_CONFIG_HOME'] || path.join(machine.home, '.config'), 'systemd/user');
  const { name, file } = ownFile(folder, (each) => `${each}.service`, machine.root);
  const systemctl = (...args: string[]) => run(machine, 'systemctl', ['--user', ...args]);
  return {
    logCommand: `journalctl --user -u ${name} -f`,
    async install(startup) {
      const before = await this.state();
      const unit = renderUnit(startup);
      const isChanged = before.isRunning && readFileSync(file, 'utf8') !== unit;
      mkdirSync(folder, { recursive: true });
      writeFileAtomic(file, unit);
      const loaded = await systemctl('daemon-reload');
      if (!isGood(loaded)) {
        rmSync(file, { force: true });
        throw failed('systemd does not answer.', loaded, 'systemctl --user status');
      }
      const enabled = await systemctl('enable', '--now', `${name}.service`);
      // A running service is not restarted by that, and would keep its old settings.
      const restarted = isChanged && isGood(enabled) ? await systemctl('restart', `${name}.service`) : enabled;
      if (!isGood(restarted)) throw failed('the service could not be started.', restarted, `systemctl --user status ${name}`);
    },
    async remove() {
      const disabled = await systemctl('disable', '--now', `${name}.service`);
      if (!isGood(disabled)) throw failed('the service could not be stopped.', disabled, `systemctl --user status ${name}`);
      rmSync(file, { force: true });
      await systemctl('daemon-reload');
    },
    async state() {
      if (!existsSync(file)) return { file: null, isRunning: false, isEnabled: false, lingers: null };
      const [active, enabled, linger] = await Promise.all([
        systemctl('is-active', `${name}.service`),
        systemctl('is-enabled', `${name}.service`),
        run(machine, 'loginctl', ['show-user', machine.user, '--property=Linger']),
      ]);
      const lingers = /^Linger=(yes|no)/m.exec(linger.stdout)?.[1];
      return {
        file,
        isRunning: isGood(active),
        isEnabled: isGood(enabled),
        lingers: lingers === undefined ? null : lingers === 'yes',
      };
    },
  };
}

function launchd(machine: Machine): ServiceManager {
  const folder = path.join(machine.home, 'Library/LaunchAgents');
  const { name, file } = ownFile(folder, (each) => `assistant-gateway.${each}.plist`, machine.root);
  const label = `assistant-gateway.${name}`;
  const domain = `gui/${machine.uid}`;
  const launchctl = (...args: string[]) => run(machine, 'launchctl', args);
  return {
    logCommand: `tail -f '${machine.logFile}'`,
    async install(startup) {
      mkdirSync(folder, { recursive: true });
      await launchctl('bootout', `${domain}/${label}`);
      writeFileAtomic(
        file,
        renderAgent(startup, label, machine.logFile).replace(
          '<plist',
          `<!-- ${mark(machine.root).replaceAll('--', '- -')} -->\n<plist`,
        ),
      );
      const started = await launchctl('bootstrap', domain, file);
      if (isGood(started)) return;
      rmSync(file, { force: true });
      throw failed('the service could not be started.', started, `launchctl print ${domain}`);
    },
    async remove() {
      const { isRunning } = await this.state();
      const ended = isRunning ? await launchctl('bootout', `${domain}/${label}`) : null;
      if (ended !== null && !isGood(ended))
        throw failed('the service could not be stopped.', ended, `launchctl print ${domain}/${label}`);
      rmSync(file, { force: true });
    },
    async state() {
      if (!existsSync(file)) return { file: null, isRunning: false, isEnabled: false, lingers: null };
      const found = await launchctl('print', `${domain}/${label}`);
      return { file, isRunning: isGood(found) && /state = running/.test(found.stdout), isEnabled: isGood(found), lingers: null };
    },
  };
}

/** Installations do not replace each other's unit: the first name of svc, svc-2 and so on that is free or already ours. */
function ownFile(folder: string, nameOf: (name: string) => string, root: string): { name: string; file: string } {
  for (let count = 1; ; count++) {
    const name = count === 1 ? 'svc' : `svc-${count}`;
    const file = path.join(folder, nameOf(name));
    if (!existsSync(file) || isOurs(readFileSync(file, 'utf8'), root)) return { name, file };
  }
}

/** Includes a unit written by hand, as the docs described before this command existed. */
const isOurs = (text: string, root: string): boolean =>
  text.includes(mark(root).replaceAll('--', '- -')) ||
  text.includes(`${mark(root)}\n`) ||
  text.includes(`ExecStart="${root}/svc" up`);

const run = ({ env }: Machine, command: string, args: readonly string[]): Promise<ProgramResult> =>
  runProgram(command, args, { env, timeoutMs });

const isGood = ({ ending, code }: ProgramResult): boolean => ending === 'ended' && code === 0;

function failed(what: string, { ending, stderr, stdout }: ProgramResult, run: string): CliError {
  if (ending === 'not_started') return new CliError(what, { why: `There is no such program: ${run.split(' ')[0] ?? ''}.` });
  return new CliError(what, { why: (stderr.trim() || stdout.trim() || 'It gave no reason.').slice(-2000), run });
}
