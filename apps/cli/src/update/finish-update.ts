import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomic } from '@svc/service-kit/files.ts';
import { endJournal, type Journal, type Version } from './journal.ts';
import { writeLastUpdate, writeStoppedUpdate } from './last-update.ts';
import { reconcileEnv } from './reconcile-env.ts';
import type { UpdateContext } from './update-context.ts';
import { runSetupSteps } from './setup-steps.ts';
import type { Switched } from './switch-to.ts';
import { inSeconds, type Outcome, updateCodes } from './update-outcome.ts';
import { versionFolder, versionsIn } from './version-folder.ts';

/** Reports the outcome, and runs the remaining steps after a successful update. */
export async function finishUpdate(context: UpdateContext, { journal, result, why, gapMs, lost }: Switched): Promise<Outcome> {
  const { places, now } = context;
  const { id, from, to } = journal;
  const outcome = outcomeOf({ result, why, gapMs, lost, from, to });
  if (result === 'confirmed') await finish(context, journal);
  else if (result === 'reverted') await context.source.remove(to.commit).catch(() => undefined); // the next update does it
  const ended = { ...outcome, id, from, to, endedAt: now(), gapMs };
  if (result === 'stopped') writeStoppedUpdate(places, ended);
  else writeLastUpdate(places, ended, journal.isRollback);
  endJournal(places);
  return outcome;
}

type Facts = Pick<Switched, 'result' | 'why' | 'gapMs' | 'lost'> & { from: Version; to: Version };

function outcomeOf(facts: Facts): Outcome {
  const { code, words } = endOf(facts);
  if (facts.result === 'stopped') return { code, words, isPassing: true };
  const { gapMs, lost } = facts;
  if (gapMs === null) return { code, words };
  const all = [words, `The core was unavailable for ${inSeconds(gapMs)}.`, ...(lost.length === 0 ? [] : [lostWords(facts)])];
  return { code, words: all.join(' '), gapMs: Math.round(gapMs) };
}

const lostWords = ({ lost, from }: Facts): string =>
  `These connectors ran before and do not run now: ${lost.join('; ')}. See ./svc status. Back to ${from.name}: ./svc update --rollback`;

function endOf({ result, why, gapMs, from, to }: Facts): Pick<Outcome, 'code' | 'words'> {
  if (result === 'reverted')
    return { code: updateCodes.rolledBack, words: `${to.name} was rolled back: ${why}. ${from.name} runs again.` };
  if (result === 'stuck')
    return { code: updateCodes.manual, words: `${to.name} was rolled back: ${why}. See ./svc doctor and ./svc logs.` };
  if (result === 'stopped')
    return {
      code: updateCodes.manual,
      words: `The service was stopped during the switch to ${to.name}, so ${from.name} is in place again: the next ./svc up starts it. Nothing is wrong with ${to.name}; ./svc update tries it again.`,
    };
  const next = gapMs === null ? ' The next ./svc up starts it.' : '';
  return { code: updateCodes.ok, words: `Updated from ${from.name} to ${to.name}.${next}` };
}

/** The remaining steps for a version that stays. Each may be repeated, and none of them causes a rollback. */
export async function finish(context: UpdateContext, journal: Journal): Promise<void> {
  const { say } = context;
  const steps: [string, () => Promise<void>][] = [
    ['new settings could not be added to .env', async () => noteNewSettings(context, journal)],
    ['set-up steps could not be run', () => runSteps(context, journal)],
    ['this folder could not be updated to the new version, which runs from .runtime/versions', () => settle(context, journal)],
    ['old versions could not be removed', () => removeOthers(context, [journal.from.commit, journal.to.commit])],
  ];
  for (const [what, step] of steps) {
    try {
      await step();
    } catch (error) {
      say(`Note: ${what}: ${(error as Error).message}`);
    }
  }
}

const runSteps = ({ places, data, say, now }: UpdateContext, { to }: Journal): Promise<void> =>
  runSetupSteps({ root: versionFolder(places, to.commit), dataDir: data.root, say, now });

function noteNewSettings({ places, say }: UpdateContext, { from, to }: Journal): void {
  const file = path.join(places.home, '.env');
  if (!existsSync(file)) return;
  const exampleOf = ({ commit }: Version) => readFileSync(path.join(versionFolder(places, commit), '.env.example'), 'utf8');
  const text = reconcileEnv(readFileSync(file, 'utf8'), exampleOf(from), exampleOf(to));
  if (text === null) return;
  // It may be a link to another place.
  writeFileAtomic(realpathSync(file), text);
  say('New settings were added to .env, commented out.');
}

async function settle({ source, say }: UpdateContext, journal: Journal): Promise<void> {
  const words = await source.settle(journal);
  if (words !== null) say(words);
}

/** A repair may run from the code of a third version, which is kept until the next update. */
async function removeOthers({ places, source, root }: UpdateContext, kept: readonly string[]): Promise<void> {
  const others = versionsIn(places).filter((commit) => !kept.includes(commit) && versionFolder(places, commit) !== root);
  for (const commit of others) await source.remove(commit);
}
