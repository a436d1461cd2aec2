import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { writeFileAtomic } from '@svc/service-kit/files.ts';
import { readJsonFile } from '@svc/service-kit/json/read-json-file.ts';
import { runProgram } from '@svc/service-kit/process/run-program.ts';
import { foreignEnv } from './program-env.ts';

type Steps = {
  /** The version whose steps run; each runs in its folder. */
  root: string;
  /** The record of the steps applied to this installation. */
  dataDir: string;
  say(line: string): void;
  now(): number;
};

const folder = 'scripts/setup-steps';
const stepName = /^\d{3}-[\w-]+$/;
/** Exit code of a step that does not apply here yet; the next update tries it again. */
const notApplicable = 75;
const timeoutMs = 10 * 60_000;

/**
 * Runs the set-up steps of a version that were not applied here, in order. A failed one is reported, retried by the next update, and
 * causes no rollback. A killed step counts as not applied, so each must be repeatable.
 */
export async function runSetupSteps({ root, dataDir, say, now }: Steps): Promise<void> {
  const file = dataPaths(dataDir).setupSteps;
  const applied = new Map(Object.entries((readJsonFile(file) ?? {}) as Record<string, number>));
  for (const name of stepsIn(root)) {
    if (applied.has(name)) continue;
    const step = path.join(root, folder, name);
    const { ending, code, stderr } = await runProgram(step, [], {
      cwd: root,
      env: { ...foreignEnv(), SVC_DATA_DIR: dataDir },
      timeoutMs,
    });
    if (ending === 'ended' && code === notApplicable) continue;
    if (ending === 'ended' && code === 0) {
      applied.set(name, now());
      writeFileAtomic(file, `${JSON.stringify(Object.fromEntries(applied), null, 2)}\n`);
      say(`Set-up step ${name} is applied.`);
    } else
      say(
        `Note: set-up step ${name} failed, and is tried again by the next update: ${stderr.trim().slice(-500) || (code ?? ending)}`,
      );
  }
}

function stepsIn(root: string): string[] {
  const at = path.join(root, folder);
  return existsSync(at)
    ? readdirSync(at)
        .filter((name) => stepName.test(name))
        .toSorted()
    : [];
}
