import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomic } from '@svc/service-kit/files.ts';
import { runProgram } from '@svc/service-kit/process/run-program.ts';

type Place = { program: string; env: Record<string, string>; cwd: string };

/** Files with model descriptions, which replace codex's own list. Each turn uses the one that its tool policy allows. */
export type ModelCatalogs = {
  /** Models without file editing. */
  reader: string;
  /** Models with file editing. */
  writer: string;
};

const usualTimeoutMs = 10_000;
const maxOutput = 16 * 1024 * 1024;

/**
 * Fields that are removed from a model's entry. The entry takes precedence over the settings of a turn: it alone can give a model
 * sub-agents, a tool that runs code, and its own tools. `model_messages` is the vendor's prompt, which our instructions replace.
 */
const removed = ['multi_agent_version', 'multi_agent_reasoning_effort', 'tool_mode', 'model_messages'];

/**
 * Fields that are replaced. A model that must search for its tools gets none of a tool server, because only the vendor's service supports
 * this. "Lite" requests write instructions and tools into the history, where those of a turn with more rights would stay for ever.
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

/** Distinguishes our catalogs from those of another service version. */
const edition = createHash('sha256')
  .update(JSON.stringify([removedFor, replaced]))
  .digest('hex')
  .slice(0, 8);

/**
 * Creates the files once for each version of the program.
 * @throws when codex does not list its models: without these files, tool policies cannot be enforced
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

/** A turn waits for it, so a hanging program is killed at once. */
async function listModels({ program, env, cwd }: Place, timeoutMs: number): Promise<string> {
  const answer = await runProgram(program, ['debug', 'models'], { env, cwd, timeoutMs, maxOutput });
  if (answer.ending === 'ended' && answer.code === 0 && !answer.isCut) return answer.stdout;
  const how = answer.isCut ? 'wrote too much' : answer.ending === 'too_late' ? 'took too long' : `ended with code ${answer.code}`;
  throw new Error(`codex debug models ${how}: ${answer.stderr}`);
}

type Model = Record<string, unknown>;

/** @throws when it is not the expected list */
export function parseModels(text: string): Model[] {
  const list: unknown = JSON.parse(text);
  const models = typeof list === 'object' && list !== null && 'models' in list ? list.models : null;
  if (!Array.isArray(models)) throw new Error('the model list of codex has an unexpected format');
  return models as Model[];
}

/** The entries without the parts that would bypass a turn's policy. */
export function toCatalog(models: readonly Model[], kind: keyof ModelCatalogs): string {
  const isKept = ([name]: [string, unknown]) => !removedFor[kind].includes(name);
  return JSON.stringify({
    models: models.map((model) => ({ ...Object.fromEntries(Object.entries(model).filter(isKept)), ...replaced })),
  });
}
