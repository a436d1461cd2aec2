import { existsSync, realpathSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { loadSettings, type Settings } from '@svc/service-kit/config/settings.ts';
import { installationHome } from '@svc/service-kit/update/update-places.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { CliError } from '../cli-error.ts';
import { askTerminal } from '../connector/ask-fields.ts';
import { repositoryRoot } from '../repository-root.ts';
import { openServiceManager, type ServiceManager } from '../service/service-manager.ts';
import { print, quoted } from '../terminal.ts';
import { readSupervisorState } from '../up/state-file.ts';
import { thisMachine } from './service.ts';

type Options = { data?: boolean; yes?: boolean };

/** The files that `./svc` itself has put into the program folder. */
const setUp = ['node_modules', '.runtime', '.cache'];

/** Shows what will be removed and what stays, asks, and removes. Data is removed only on request. */
export async function uninstall(options: Options, root = installationHome(repositoryRoot)): Promise<number> {
  const settings = loadSettings(root);
  const manager = managerOf(settings);
  const state = await manager?.state();
  const unit = state?.file ?? null;
  const running = readSupervisorState(dataPaths(settings.dataDir).supervisorState);
  // One that the unit runs is stopped with it. One in a terminal is not, even if there is a unit.
  if (running !== null && state?.isRunning !== true)
    throw new CliError('the service runs.', { why: 'End it first.', run: `kill ${running.pid} && sleep 2 && ./svc uninstall` });
  const data = options.data === true ? removableData(settings) : null;
  const goes = [...(unit === null ? [] : [unit]), ...setUp.map((name) => path.join(root, name)).filter((at) => existsSync(at))];
  print(
    plan(
      [...goes, ...(data === null ? [] : [`${data}  (conversations, people, secrets, backups)`])],
      staying(settings, data),
    ).join('\n'),
  );
  if (options.yes !== true && !(await isAgreed(data === null ? 'yes' : 'remove my data'))) {
    print('Nothing was removed.');
    return exitCodes.failed;
  }
  if (unit !== null) await manager?.remove();
  if (data !== null) rmSync(data, { recursive: true, force: true });
  for (const name of setUp) rmSync(path.join(root, name), { recursive: true, force: true });
  process.stdout.write(`Done. The program folder remains: rm -r ${quoted(root)}\n`);
  return exitCodes.ok;
}

function managerOf(settings: Settings): ServiceManager | null {
  return process.platform === 'linux' || process.platform === 'darwin' ? openServiceManager(thisMachine(settings)) : null;
}

/** The data folder, if it is one: a wrong setting must not delete a home folder. */
function removableData({ dataDir, root }: Settings): string {
  if (!existsSync(dataDir))
    throw new CliError('there is no data.', { why: `${dataDir} does not exist.`, run: './svc uninstall' });
  const real = realpathSync(dataDir);
  const isOurs = existsSync(dataPaths(real).supervisorLock);
  const holdsMore = [homedir(), root, '/'].some((folder) => `${folder}/`.startsWith(`${real === '/' ? '' : real}/`));
  if (isOurs && !holdsMore) return real;
  throw new CliError('the data folder is not removed.', {
    why: `${real} is not one of this service alone. Look into it and remove it by hand.`,
  });
}

const plan = (goes: readonly string[], stays: readonly string[]): string[] => [
  'Removed:',
  ...goes.map((text) => `  ${text}`),
  'Stays:',
  ...stays.map((text) => `  ${text}`),
];

const staying = ({ dataDir, root }: Settings, data: string | null): string[] => [
  `${root}  (the program itself, .env too)`,
  ...(data === null && existsSync(dataDir) ? [`${dataDir}  (the data; "./svc uninstall --data" removes it)`] : []),
  '~/.claude, ~/.codex, ~/.gemini  (logins that you made with engines, if any)',
];

async function isAgreed(words: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new CliError('there is no terminal to ask in.', { why: 'Nothing was removed.', run: './svc uninstall --yes' });
  return (await askTerminal(`Type "${words}" to continue: `)).trim() === words;
}
