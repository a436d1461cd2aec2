import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { writeFileAtomic } from '@svc/service-kit/files.ts';
import { readJsonFile } from '@svc/service-kit/json/read-json-file.ts';
import { runProgram } from '@svc/service-kit/process/run-program.ts';
import { foreignEnv } from './program-env.ts';

type Steps = {
  /** The version whose steps they are; each runs there. */
  root: string;
  /** Where it is kept which ones were applied to this installation. */
  dataDir: string;
  say(line: string): void;
  now(): number;
};

const folder = 'scripts/setup-steps';
const stepName = /^\d{3}-[\w-]+$/;
/** Exit code of a step that does not apply here yet; it is asked again by the next update. */
const notApplicable = 75;
const timeoutMs = 10 * 60_000;

/**
 * Runs the set-up steps of a version that this installation has not had, in their order. One that fails is said, tried again by the next update, and
 * takes nothing back. A step that was killed counts as not applied: each may be run twice.
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
