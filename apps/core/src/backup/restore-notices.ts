import { restoreState } from '@svc/service-kit/restore/restore-state.ts';

const words = {
  pending: 'A backup is restored at the next start. Not wanted any more: ./svc backup undo',
  applied: 'A backup was restored. What it replaced is kept until the next start: ./svc backup undo brings it back.',
  undoing: 'At the next start the state from before the last restore is put back.',
};

/** What the next start does about a restore. */
export function restoreNotices(dataDir: string): string[] {
  const found = restoreState(dataDir);
  return found === null ? [] : [words[found.state]];
}
