import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomic } from '@svc/service-kit/config/data-dir.ts';
import { runProgram } from '@svc/service-kit/process/run-program.ts';
import type { EngineLog } from '@svc/engine-kit/engine.ts';

type Deps = { program: string; env: Record<string, string>; cwd: string; log: EngineLog };

const usualTimeoutMs = 10_000;
const maxOutput = 16 * 1024 * 1024;

/**
 * What codex knows of the vendor's models, for endpoints that are not the vendor's: by its own list the newest models get no tools
 * of tool servers but have to search for them, which only the vendor's service understands. A file of this codex, made
 * once; null when it cannot be made, and then codex uses its own.
 */
export async function openModelCatalog({ program, env, cwd, log }: Deps, timeoutMs = usualTimeoutMs): Promise<string | null> {
  try {
    const { size, mtimeMs } = statSync(program);
    const file = path.join(cwd, `models-${size}-${Math.round(mtimeMs)}.json`);
    if (!existsSync(file)) writeFileAtomic(file, withoutSearch(await listModels({ program, env, cwd }, timeoutMs)));
    return file;
  } catch (error) {
    log.warn({ err: error }, 'codex does not tell its models; some of them may get no tools of tool servers');
    return null;
  }
}

/** A turn waits for it, so one that hangs is not asked to end. */
async function listModels({ program, env, cwd }: Omit<Deps, 'log'>, timeoutMs: number): Promise<string> {
  const answer = await runProgram(program, ['debug', 'models'], { env, cwd, timeoutMs, maxOutput });
  if (answer.ending === 'ended' && answer.code === 0 && !answer.isCut) return answer.stdout;
  const how = answer.isCut ? 'wrote too much' : answer.ending === 'too_late' ? 'took too long' : `ended with code ${answer.code}`;
  throw new Error(`codex debug models ${how}: ${answer.stderr}`);
}

/** @throws when it is not the list that is expected. */
export function withoutSearch(text: string): string {
  const list: unknown = JSON.parse(text);
  const models = typeof list === 'object' && list !== null && 'models' in list ? list.models : null;
  if (!Array.isArray(models)) throw new Error('the list of models has another form');
  return JSON.stringify({ models: models.map((model: object) => ({ ...model, supports_search_tool: false })) });
}
