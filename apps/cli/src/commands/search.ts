import type { SearchAnswer } from '@svc/contract/insights.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { askCollector } from '../service-client.ts';
import { renderSearch } from '../insights/render-insights.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print } from '../terminal.ts';

/** `since` is epoch ms. */
export type SearchOptions = { since?: number; limit: number; json?: boolean };

/** Finds the sessions whose messages contain the words. */
export async function search(words: string, { since, limit, json }: SearchOptions): Promise<number> {
  const answer = await askCollector<SearchAnswer>(loadSettings(repositoryRoot), '/api/search', { q: words, since, limit });
  print(json === true ? JSON.stringify(answer, null, 2) : renderSearch(answer, Date.now(), createStyle(process.stdout)));
  return exitCodes.ok;
}
