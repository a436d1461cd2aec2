import { homedir } from 'node:os';
import path from 'node:path';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import { loadSettings, type Settings } from '@svc/service-kit/config/settings.ts';
import { userName } from '@svc/service-kit/user-name.ts';
import { installationHome } from '@svc/service-kit/update/update-places.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { CliError } from '../cli-error.ts';
import { repositoryRoot } from '../repository-root.ts';
import {
  openServiceManager,
  type Machine,
  type ServiceAction,
  type ServiceManager,
  type ServiceState,
} from '../service/service-manager.ts';
import { startupEnv } from '../service/unit-file.ts';
import { print } from '../terminal.ts';
import { readSupervisorState } from '../up/state-file.ts';

/** Installs or removes the system service, or shows its state. */
export async function service(action: ServiceAction, { json }: { json?: boolean }): Promise<number> {
  const settings = loadSettings(repositoryRoot);
  const machine = thisMachine(settings);
  const manager = openServiceManager(machine);
  if (action === 'install') return install(manager, machine, settings);
  if (action === 'remove') return remove(manager, settings);
  const state = await manager.state();
  print(json === true ? JSON.stringify(state, null, 2) : stateLines(state, manager, machine.user).join('\n'));
  return state.isRunning ? exitCodes.ok : exitCodes.notRunning;
}

/** The machine, as this process sees it. */
export const thisMachine = ({ dataDir, root }: Pick<Settings, 'dataDir' | 'root'>): Machine => ({
  platform: process.platform,
  root: installationHome(root),
  home: homedir(),
  user: userName(),
  uid: process.getuid?.() ?? 0,
  env: process.env,
  logFile: path.join(dataPaths(dataDir).logs, 'service.log'),
});

async function install(manager: ServiceManager, machine: Machine, settings: Settings): Promise<number> {
  const running = readSupervisorState(dataPaths(settings.dataDir).supervisorState);
  const before = await manager.state();
  if (running !== null && !before.isRunning)
    throw new CliError('the service is already running, in a terminal.', {
      why: 'Two cannot use the same data. Stop that one first.',
      run: `kill ${running.pid} && sleep 2 && ./svc service install`,
    });
  const { env, left } = startupEnv(machine.env);
  makePrivateDir(path.dirname(machine.logFile));
  await manager.install({ root: machine.root, env, stopTimeoutMs: settings.stopTimeoutMs });
  const state = await manager.state();
  const lines = [
    `The service is installed as ${state.file ?? 'a service'}, and ${state.isRunning ? 'runs' : 'starts'}.`,
    `  Node      ${process.execPath} (${process.versions.node})`,
    `  Settings  .env, and of this shell: ${Object.keys(env).join(', ')}`,
    ...(left.length === 0 ? [] : [`  Left out  ${left.join(', ')}: add them to .env, which only you can read (chmod 600 .env).`]),
    ...lingerLines(state, machine.user),
    `./svc status shows its state; ${manager.logCommand} its output, including the key of a first start.`,
  ];
  print(lines.join('\n'));
  return exitCodes.ok;
}

async function remove(manager: ServiceManager, { dataDir }: Settings): Promise<number> {
  const { file } = await manager.state();
  if (file === null) {
    print('This installation has no service.');
    return exitCodes.ok;
  }
  await manager.remove();
  print(`The service is stopped and ${file} removed. The data stays in ${dataDir}; ./svc up runs it by hand.`);
  return exitCodes.ok;
}

function stateLines(state: ServiceState, { logCommand }: ServiceManager, user: string): string[] {
  if (state.file === null) return ['It does not start automatically. ./svc service install changes that.'];
  return [
    `${state.isRunning ? 'It runs' : 'It does not run'}, and ${state.isEnabled ? 'starts' : 'does not start'} automatically (${state.file}).`,
    ...lingerLines(state, user),
    ...(state.isRunning ? [] : [`Why: ${logCommand}`]),
  ];
}

/** systemd ends a user's programs with their last session, unless lingering is on. */
const lingerLines = ({ lingers }: ServiceState, user: string): string[] =>
  lingers === false
    ? [`It ends when you log out, and begins when you log in. To keep it running: sudo loginctl enable-linger ${user}`]
    : [];
