import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { askCollector } from '../ask-collector.ts';
import { renderUsage, type UsageAnswer, type UsageGroup } from '../insights/render-usage.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print } from '../terminal.ts';

/** `since` is epoch ms. */
export type UsageOptions = { since: number; by: UsageGroup; json?: boolean };

/** Shows what was used since a time, and what it cost. */
export async function usage({ since, by, json }: UsageOptions): Promise<number> {
  const answer = await askCollector<UsageAnswer>(loadSettings(repositoryRoot), '/api/usage', { since });
  print(json === true ? JSON.stringify(answer, null, 2) : renderUsage(answer, by, createStyle(process.stdout)));
  return exitCodes.ok;
}
