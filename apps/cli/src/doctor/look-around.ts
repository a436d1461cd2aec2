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
 * Every check that takes no time, besides the reports of the processes and instances. `svc status` and `svc doctor` share it, so
 * that one of them never says that all is well when the other does not.
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
