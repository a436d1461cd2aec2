import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Alters bytes in the middle of a database file, as a broken disk does: the first page of a table or an index, or the file's header. */
export function damageDatabase(file: string, what: string): void {
  const at = what === 'header' ? 0 : placeOf(file, what);
  // The first page begins with the header of the file, any other with that of the page.
  damageBytes(file, at === 0 ? 100 : at);
}

export function damageBytes(file: string, at: number): void {
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xa5, at, at + 8));
}

function placeOf(file: string, name: string): number {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const pageBytes = Number(db.prepare('PRAGMA page_size').get()?.['page_size']);
    const root = Number(db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(name)?.['rootpage']);
    return (root - 1) * pageBytes;
  } finally {
    db.close();
  }
}
