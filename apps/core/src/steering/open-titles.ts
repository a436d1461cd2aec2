import type { Database } from '@svc/store/database.ts';
import type { Titles } from '../session/session-titles.ts';
import { createTitleStore } from '../session/title-store.ts';
import { createTitleLane, type TitleLane } from './title-lane.ts';
import { createTitles, type TitlesDeps } from './titles.ts';

type Deps = { db: Database } & Omit<TitlesDeps, 'titleStore' | 'titleLane'>;

/** Conversations' titles, and the one lane in which automatic and requested titles are made. */
export function openTitles(deps: Deps): { titles: Titles; titleLane: TitleLane } {
  const titleLane = createTitleLane();
  return { titleLane, titles: createTitles({ ...deps, titleLane, titleStore: createTitleStore(deps.db) }) };
}
