import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { installationHome } from '@svc/service-kit/update/update-places.ts';
import { installationOf, type Installation } from '@svc/supervisor/installation.ts';
import { CliError } from '../cli-error.ts';
import { print, quoted } from '../terminal.ts';
import { readSupervisorState } from './state-file.ts';

/** Reports that the service is already running. @throws CliError when another installation uses this data folder */
export async function sayItRuns(paths: DataPaths, root: string): Promise<number> {
  const state = readSupervisorState(paths.supervisorState);
  const owner = state === null ? null : await installationOf(state.pid, '');
  if (owner !== null && owner.root !== installationHome(root)) throw anotherWorksHere(paths, owner);
  print(`The service is already running on ${paths.root}${state === null ? '.' : `, as process ${state.pid}:`}`);
  for (const { name, url, status } of state?.services ?? [])
    print(`  ${name.padEnd(12)}${url}${status === 'running' ? '' : `  (${status})`}`);
  print('./svc status shows more. Ctrl-C in its terminal stops it.');
  return exitCodes.ok;
}

/** Each installation needs its own data folder. */
const anotherWorksHere = (paths: DataPaths, { root }: Installation): CliError =>
  new CliError('another installation runs on this data folder.', {
    why: `The one in ${root} works on ${paths.root}. Stop it, or give this one a folder of its own.`,
    run: `printf '\\nSVC_DATA_DIR=%s\\n' ${quoted(`${paths.root}-2`)} >>.env && ./svc up`,
  });
