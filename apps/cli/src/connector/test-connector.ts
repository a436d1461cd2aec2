import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { CliError } from '../cli-error.ts';
import { environmentOfPrograms } from '../terminal.ts';

type Options = {
  /** Its type, or a folder that is elsewhere. */
  name: string;
  /** The connectors folder of the data folder. */
  parent: string;
};

/**
 * Runs the tests of somebody's own connector as its `package.json` says, under the Node of the service: the one of the
 * machine may be too old for them. Gives the exit code. @throws CliError when there is no such connector.
 */
export async function testConnector({ name, parent }: Options): Promise<number> {
  const cwd = [path.join(parent, name), path.resolve(name)].find((folder) => existsSync(path.join(folder, 'package.json')));
  if (cwd === undefined) {
    throw new CliError(`there is no connector of your own "${name}".`, {
      why: `Yours are the folders in ${parent}.`,
      run: `./svc connector new ${/^[a-z][a-z0-9-]*$/.test(name) ? name : 'NAME'}`,
    });
  }
  const env = environmentOfPrograms();
  const PATH = [path.dirname(process.execPath), env['PATH']].join(path.delimiter);
  return run('npm', ['test'], { cwd, env: { ...env, PATH } });
}

function run(command: string, args: string[], options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: 'inherit' });
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? exitCodes.failed));
  });
}
