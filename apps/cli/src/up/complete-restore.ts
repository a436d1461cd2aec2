import { applyRestore } from '@svc/service-kit/restore/apply-restore.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { CliError } from '../cli-error.ts';

/** Puts a pending backup in place, or an earlier state back. Returns what was done, for a person. @throws CliError that names the way back */
export function completeRestore(dataDir: string): string[] {
  try {
    return applyRestore(dataDir);
  } catch (error) {
    throw new CliError('the backup to be restored cannot be put in place.', {
      why: `${errorText(error)}\nNothing is lost, and the next start tries it again. To go back to the state before the restore instead:`,
      run: './svc backup undo',
      cause: error,
    });
  }
}
