import { spawn } from 'node:child_process';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { repositoryRoot } from '../repository-root.ts';

/** Runs one of our programs with this Node in the root folder, on our terminal. Ctrl-C reaches it through the terminal; we only wait for its end. */
export function runNode(args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const ignore = () => undefined;
  process.on('SIGINT', ignore);
  return new Promise<number>((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: repositoryRoot, env, stdio: 'inherit' });
    const onTerm = () => void child.kill('SIGTERM');
    process.once('SIGTERM', onTerm);
    child.once('error', reject);
    child.once('close', (code) => {
      process.removeListener('SIGTERM', onTerm);
      resolve(code ?? exitCodes.failed);
    });
  }).finally(() => process.removeListener('SIGINT', ignore));
}
