import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomic } from '@svc/service-kit/files.ts';
import { runProgram } from '@svc/service-kit/process/run-program.ts';

type Place = { program: string; env: Record<string, string>; cwd: string };

/** Files of what codex is to know of models, in place of its own list. Each turn is given the one that its tool policy allows. */
export type ModelCatalogs = {
  /** Models that edit no files. */
  reader: string;
  /** Models that edit files. */
  writer: string;
};

const usualTimeoutMs = 10_000;
const maxOutput = 16 * 1024 * 1024;

/**
 * What a model's entry may not say. The entry wins over the settings of a turn: it alone gives a model sub-agents, a tool that runs
 * code, and tools of its own. `model_messages` is the vendor's prompt, which our instructions replace.
 */
const removed = ['multi_agent_version', 'multi_agent_reasoning_effort', 'tool_mode', 'model_messages'];

/**
 * What it says instead. A model that has to search for its tools gets none of a tool server: only the vendor's service understands that.
 * The "lite" requests write instructions and tools into the history, where those of a turn with more rights would stay for ever.
 */
const replaced = {
  experimental_supported_tools: [],
  supports_search_tool: false,
  use_responses_lite: false,
  include_skills_usage_instructions: false,
  include_plugin_usage_instructions: false,
  include_apps_usage_instructions: false,
  base_instructions: 'You are a helpful assistant.',
};

const removedFor: Record<keyof ModelCatalogs, string[]> = { reader: [...removed, 'apply_patch_tool_type'], writer: removed };

/** Catalogs that another service version has made are not taken for ours. */
const edition = createHash('sha256')
  .update(JSON.stringify([removedFor, replaced]))
  .digest('hex')
  .slice(0, 8);

/**
 * Makes the files once for each version of the program.
 * @throws when codex does not list its models: without these files no tool policy holds.
 */
export async function openModelCatalogs(place: Place, timeoutMs = usualTimeoutMs): Promise<ModelCatalogs> {
  const { size, mtimeMs } = statSync(place.program);
  const file = (kind: keyof ModelCatalogs) =>
    path.join(place.cwd, `models-${kind}-${size}-${Math.round(mtimeMs)}-${edition}.json`);
  const catalogs: ModelCatalogs = { reader: file('reader'), writer: file('writer') };
  if (existsSync(catalogs.reader) && existsSync(catalogs.writer)) return catalogs;
  const models = parseModels(await listModels(place, timeoutMs));
  writeFileAtomic(catalogs.reader, toCatalog(models, 'reader'));
  writeFileAtomic(catalogs.writer, toCatalog(models, 'writer'));
  return catalogs;
}

/** A turn waits for it, so one that hangs is not asked to end. */
async function listModels({ program, env, cwd }: Place, timeoutMs: number): Promise<string> {
  const answer = await runProgram(program, ['debug', 'models'], { env, cwd, timeoutMs, maxOutput });
  if (answer.ending === 'ended' && answer.code === 0 && !answer.isCut) return answer.stdout;
  const how = answer.isCut ? 'wrote too much' : answer.ending === 'too_late' ? 'took too long' : `ended with code ${answer.code}`;
  throw new Error(`codex debug models ${how}: ${answer.stderr}`);
}

type Model = Record<string, unknown>;

/** @throws when it is not the list that is expected. */
export function parseModels(text: string): Model[] {
  const list: unknown = JSON.parse(text);
  const models = typeof list === 'object' && list !== null && 'models' in list ? list.models : null;
  if (!Array.isArray(models)) throw new Error('the model list of codex has an unexpected format');
  return models as Model[];
}

/** The entries with everything in them but what would get around the policy of a turn. */
export function toCatalog(models: readonly Model[], kind: keyof ModelCatalogs): string {
  const isKept = ([name]: [string, unknown]) => !removedFor[kind].includes(name);
  return JSON.stringify({
    models: models.map((model) => ({ ...Object.fromEntries(Object.entries(model).filter(isKept)), ...replaced })),
  });
}
