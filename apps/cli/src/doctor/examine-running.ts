import type { Settings } from '@svc/service-kit/config/settings.ts';
import { coreUrl } from '../service-urls.ts';
import { askCore } from '../status/ask-core.ts';
import { collectStatus } from '../status/collect-status.ts';
import type { Finding } from './finding.ts';

/** The running processes and their environment. Everything is asked at once; the code that evaluates the answers is loaded meanwhile. */
export async function examineRunning(settings: Settings): Promise<{ around: Finding[]; services: Finding[] }> {
  const core = askCore(coreUrl(settings));
  const asked = collectStatus(settings, core);
  const [{ lookAround }, { examineServices }] = await Promise.all([import('./look-around.ts'), import('./examine-services.ts')]);
  const [around, services] = await Promise.all([
    lookAround(settings, core, asked),
    asked.then((status) => examineServices(settings, status)),
  ]);
  return { around, services };
}
