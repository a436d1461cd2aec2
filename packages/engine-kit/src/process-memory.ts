import { readdir, readFile } from 'node:fs/promises';
import os from 'node:os';
import { runProgram } from '@svc/service-kit/process/run-program.ts';

type Row = { pid: number; parent: number; kb: number };

/** A look reads every process of the machine, so those who ask meanwhile share one. */
const delayMs = 500;

let nextLook: Promise<Row[]> | null = null;

/**
 * Resident memory of a process and everything it has started, bytes, half a second from now; null when it is gone or
 * cannot be told. Rejects when the machine cannot be looked at.
 */
export async function treeMemory(pid: number): Promise<number | null> {
  nextLook ??= new Promise((resolve) => setTimeout(resolve, delayMs).unref()).then(() => {
    nextLook = null;
    return process.platform === 'linux' ? readProc() : readPs();
  });
  const rows = await nextLook;
  const tree = new Set([pid]);
  let kb = 0;
  let isThere = false;
  // Parents have lower ids than their children almost always; a second look finds those that do not.
  for (let found = 0; found !== tree.size;) {
    found = tree.size;
    for (const row of rows) if (tree.has(row.parent)) tree.add(row.pid);
  }
  for (const row of rows) {
    if (!tree.has(row.pid)) continue;
    kb += row.kb;
    isThere ||= row.pid === pid;
  }
  return isThere ? kb * 1024 : null;
}

async function readProc(): Promise<Row[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const rows = await Promise.all(pids.map(readStatus));
  return rows.filter((row) => row !== null);
}

async function readStatus(pid: number): Promise<Row | null> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    return { pid, parent: field('PPid'), kb: field('VmRSS') };
  } catch {
    return null; // gone meanwhile
  }
}

async function readPs(): Promise<Row[]> {
  const env = { PATH: '/bin:/usr/bin' };
  const { stdout } = await runProgram('ps', ['-A', '-o', 'pid=,ppid=,rss='], { env, cwd: os.tmpdir(), timeoutMs: 5000 });
  const lines = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  return lines.flatMap(([pid = 0, parent = 0, kb = 0]) => (pid > 0 ? [{ pid, parent, kb }] : []));
}
