import type { Settings } from '@svc/service-kit/config/settings.ts';
import type { CoreAnswers } from '../status/ask-core.ts';
import type { Status } from '../status/collect-status.ts';
import { examineClock } from './examine-clock.ts';
import { examineCore } from './examine-core.ts';
import { examineDataDir } from './examine-data-dir.ts';
import { examineFiles } from './examine-files.ts';
import { examineSupervisor } from './examine-supervisor.ts';
import { examineUpdate } from './examine-update.ts';
import type { Finding } from './finding.ts';

/**
 * All that can be looked at in a moment, beside what the processes and instances say of themselves. `svc status` and `svc doctor` both go by it, so
 * that neither says that all is well when the other does not.
 */
export async function lookAround(settings: Settings, core: CoreAnswers, asked: Promise<Status>): Promise<Finding[]> {
  const { dataDir } = settings;
  const found = await Promise.all([
    examineDataDir(dataDir),
    examineFiles(settings),
    examineClock(dataDir),
    examineCore(settings, core, asked),
    asked.then(({ supervisor }) => examineSupervisor(dataDir, supervisor)),
  ]);
  return [...found.flat(), ...examineUpdate(settings)];
}
