import { backup, DatabaseSync } from 'node:sqlite';

const pagesPerStep = 2000;
/** A disk that takes longer is broken. */
const usualMaxMs = 10 * 60_000;

/**
 * Copies a database that another process has open. The copy shows the state at its beginning, however long it takes and whatever
 * is written meanwhile. @throws Error when it takes longer than `maxMs`
 */
export async function copyDatabase(file: string, copy: string, { maxMs = usualMaxMs } = {}): Promise<void> {
  const source = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  const until = performance.now() + maxMs;
  const progress = () => {
    if (performance.now() > until) throw new Error(`${file} could not be copied within ${Math.round(maxMs / 1000)} s`);
  };
  try {
    // SQLite restarts a copy whenever another process writes, unless the source is in a read transaction, which begins with its first read.
    source.exec('BEGIN');
    source.prepare('SELECT count(*) FROM sqlite_schema').get();
    await backup(source, copy, { rate: pagesPerStep, progress });
  } finally {
    source.close();
  }
}
