import { readdir, readlink } from 'node:fs/promises';
import { uptime } from 'node:os';
import path from 'node:path';
import { commandWordsOf } from '@svc/service-kit/process/command-line.ts';
import { readProcess, type ProcessFacts } from '../control/process-facts.ts';
import { transcriptEngines, type TranscriptEngine } from '@svc/service-kit/transcript/transcript-line.ts';

/** A program of an engine that a person started. `began` is epoch ms. */
export type EngineProcess = ProcessFacts & {
  engine: TranscriptEngine;
  args: readonly string[];
  cwd: string;
  began: number;
  /** Its ancestors, the nearest first. */
  ancestors: readonly number[];
  /** Programs of the same engine that it started, which may do its work. */
  workers: readonly ProcessFacts[];
};

const maxAncestors = 64;
const ticksPerSecond = 100;

/**
 * The running engines of this user, without those of the service itself. Null where the system does not show processes as
 * files, so that they are unknown.
 */
export async function listEngineProcesses(): Promise<EngineProcess[] | null> {
  if (process.platform !== 'linux') return null;
  const bootedAt = Date.now() - uptime() * 1000;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map((pid) => readEngine(pid, bootedAt)));
  return withWorkers(found.filter((engine) => engine !== null)).filter(({ ancestors }) => !isOurs(ancestors));
}

/** Programs start themselves again, and helpers. The first of them is the one that a person sees. */
function withWorkers(engines: readonly EngineProcess[]): EngineProcess[] {
  const isPartOf = (worker: EngineProcess, { pid, engine }: EngineProcess) =>
    worker.engine === engine && worker.ancestors.includes(pid);
  const first = engines.filter((engine) => !engines.some((other) => isPartOf(engine, other)));
  return first.map((engine) => ({ ...engine, workers: engines.filter((other) => isPartOf(other, engine)) }));
}

/** Our own engines descend from the supervisor of this process; terminal sessions do not. */
const isOurs = (ancestors: readonly number[]): boolean =>
  ancestors.includes(process.pid) || (process.ppid > 1 && ancestors.includes(process.ppid));

async function readEngine(pid: number, bootedAt: number): Promise<EngineProcess | null> {
  const args = await commandWordsOf(pid);
  const engine = engineOf(args);
  const facts = engine === null ? null : await readProcess(pid);
  if (engine === null || facts === null || facts.user !== process.getuid?.()) return null;
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  if (cwd === null) return null;
  const began = bootedAt + (Number(facts.startedAt) / ticksPerSecond) * 1000;
  return { ...facts, engine, args, cwd, began, ancestors: await ancestorsOf(facts.parent), workers: [] };
}

async function ancestorsOf(parent: number): Promise<number[]> {
  const found: number[] = [];
  for (let pid = parent; pid > 1 && found.length < maxAncestors;) {
    found.push(pid);
    pid = (await readProcess(pid))?.parent ?? 0;
  }
  return found;
}

const runtimes = /^(?:node|bun|deno)$/;
/** Arguments of engine processes that are not used in a terminal. */
const helpers = /^(?:app-server|mcp|mcp-server|daemon|--acp|--experimental-acp|acp)$/;

/** Which engine a command line runs; null for every other program. */
export function engineOf(args: readonly string[]): TranscriptEngine | null {
  const [program = '', ...rest] = args;
  const script = runtimes.test(path.basename(program)) ? (rest.find((arg) => !arg.startsWith('-')) ?? '') : program;
  const name = path.basename(script).replace(/\.(?:js|mjs|exe)$/, '');
  if (args.some((arg) => helpers.test(arg))) return null;
  return transcriptEngines.find((engine) => engine === name) ?? null;
}
