import { readdirSync, readFileSync } from 'node:fs';

/** The most that a process's descendants have held so far, MB: the sum of each one's peak. Linux only. */
export function peakOfDescendants(pid: number): number {
  const rows = readdirSync('/proc').map(Number).filter(Boolean).flatMap(readRow);
  const tree = new Set([pid]);
  for (let size = 0; size !== tree.size;) {
    size = tree.size;
    for (const row of rows) if (tree.has(row.parent)) tree.add(row.pid);
  }
  return rows.reduce((sum, row) => sum + (row.pid !== pid && tree.has(row.pid) ? row.peakMb : 0), 0);
}

function readRow(pid: number): { pid: number; parent: number; peakMb: number }[] {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    return [{ pid, parent: field('PPid'), peakMb: field('VmHWM') / 1024 }];
  } catch {
    return []; // gone meanwhile
  }
}
