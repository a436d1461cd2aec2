import type { SessionPage } from '@svc/contract/session.ts';
import { firstFitting } from '@svc/store/read-page.ts';
import type { Folders } from '../folder/folders.ts';
import type { Pipeline } from '../turn/pipeline.ts';
import { writeCursor } from './session-cursor.ts';
import type { SessionRow } from './session-store.ts';
import { toSession } from './session-view.ts';

export type PageDeps = { pipeline: Pick<Pipeline, 'stateOf'>; folders: Pick<Folders, 'setFor'> };

/** Rows as a page of the list. `limit`: how many were asked for. */
export function toPage(deps: PageDeps, rows: readonly SessionRow[], limit: number): SessionPage {
  const shown = firstFitting(rows.map((row) => toSession(row, deps)));
  const last = shown.at(-1);
  const isAll = shown.length === rows.length && rows.length < limit;
  return { sessions: shown, next: isAll || last === undefined ? null : writeCursor(last) };
}
