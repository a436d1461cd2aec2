import { existsSync } from 'node:fs';
import path from 'node:path';
import type { ProgressEvents } from '../progress-events.ts';
import { runningVersion, runUpdate, type UpdateRequest } from '../run-update.ts';
import type { UpdateContext } from '../update-context.ts';
import { toOutcome, updateCodes, type Outcome } from '../update-outcome.ts';
import { createEngineHelper, type EngineHelper } from './engine-helper.ts';
import { repairPrompt } from './repair-prompt.ts';
import { openRepairTree, type RepairTree } from './worktree.ts';

type Task = { request: UpdateRequest; failed: Outcome; progress: Pick<ProgressEvents, 'note'>; limits?: Limits };
type Limits = { turns: number; ms: number };

/** Both limit the cost. */
const usualLimits: Limits = { turns: 3, ms: 40 * 60_000 };

/**
 * Lets the engine in use repair a version that could not be installed, in a copy of its files, and installs the result like any other version:
 * tried on a copy of the data, verified, rolled back when it fails. The engine itself installs nothing. Returns the final outcome of the update.
 */
export async function repairByAgent(
  context: UpdateContext,
  { request, failed, progress, limits = usualLimits }: Task,
): Promise<Outcome> {
  const { places, source, say, now } = context;
  const id = new Date(now()).toISOString().replaceAll(/[:.]/g, '-');
  const helper = createEngineHelper(context.service.coreUrl(), id);
  const why = existsSync(path.join(places.home, '.git'))
    ? await helper.whyNot()
    : 'only a clone can be repaired, this is an archive';
  if (why !== null) return stop(failed, `No engine can be asked to repair it: ${why}.`);
  const from = await runningVersion(context);
  // Fetched and verified again: a version that may not be installed is not a base for changes.
  const target = await source.find({ ...request, current: from });
  await source.fetch(target);
  const silent = await helper.begin();
  if (silent !== null) return stop(failed, `The engine did not answer: ${silent}.`);
  const tree = await openRepairTree(places, id, target.commit);
  const report = (text: string) => {
    say(text);
    progress.note(id, text);
  };
  try {
    return await tryInTurns(context, { request, failed, limits, helper, tree, report, to: target.name, from: from.name });
  } finally {
    await helper.close();
    await tree.remove();
  }
}

type Work = {
  request: UpdateRequest;
  failed: Outcome;
  limits: Limits;
  helper: EngineHelper;
  tree: RepairTree;
  report(text: string): void;
  to: string;
  from: string;
};

async function tryInTurns(context: UpdateContext, work: Work): Promise<Outcome> {
  const { request, failed, limits, helper, tree, report, to, from } = work;
  const until = performance.now() + limits.ms;
  let last = failed;
  for (let turn = 1; turn <= limits.turns && performance.now() < until; turn += 1) {
    report(`The engine is asked to repair ${to} (turn ${turn} of ${limits.turns}) …`);
    const prompt = repairPrompt({ tree, to, from, failure: last.words, turn, mostTurns: limits.turns });
    const fault = await helper.ask(prompt, tree.folder, until - performance.now());
    if (fault !== null) return stop(failed, `The engine did not repair it: ${fault}.`);
    const commit = await tree.takeResult();
    if (commit === null) {
      last = { ...last, words: `${last.words}\nYou have changed nothing in ${tree.folder}.` };
      continue;
    }
    const name = `${to} with repairs`;
    report(`The engine made commit ${commit.slice(0, 12)}; trying it …`);
    last = await runUpdate(context, { ...request, own: { commit, name, version: name } }).catch(toOutcome);
    // Any other failure is not caused by its files.
    if (last.code !== updateCodes.rolledBack) return last;
  }
  return stop(last, `The engine could not repair it in ${limits.turns} turns.`);
}

const stop = ({ words }: Outcome, more: string): Outcome => ({ code: updateCodes.manual, words: `${words}\n${more}` });

/** Failures that an engine can help with: local changes, and a version that does not work. */
export const canBeRepaired = ({ code, isOfFiles = false }: Outcome): boolean =>
  code === updateCodes.rolledBack || (code === updateCodes.manual && isOfFiles);
