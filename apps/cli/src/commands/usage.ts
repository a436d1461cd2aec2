import type { UsageByPerson } from '@svc/contract/usage.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { askCollector } from '../service-client.ts';
import { renderPeople } from '../insights/render-people.ts';
import { renderUsage, type UsageAnswer, type UsageBy } from '../insights/render-usage.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print } from '../terminal.ts';

/** `since` is epoch ms. */
export type UsageOptions = { since: number; by: UsageBy; json?: boolean };

/** Shows the use since a time, and its cost. */
export async function usage({ since, by, json }: UsageOptions): Promise<number> {
  const settings: CliSettings = loadSettings(repositoryRoot);
  const style = createStyle(process.stdout);
  if (by === 'person') {
    const people = await askCollector<UsageByPerson>(settings, '/api/usage/people', { since });
    print(json === true ? JSON.stringify(people, null, 2) : renderPeople(people, style));
    return exitCodes.ok;
  }
  const answer = await askCollector<UsageAnswer>(settings, '/api/usage', { since });
  print(json === true ? JSON.stringify(answer, null, 2) : renderUsage(answer, by, style));
  return exitCodes.ok;
}
