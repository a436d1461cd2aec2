import { loadSettings, type Settings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import type { Finding } from '../doctor/finding.ts';
import { repositoryRoot } from '../repository-root.ts';
import { askCore } from '../status/ask-core.ts';
import { collectStatus, isAllWell, type Status } from '../status/collect-status.ts';
import { coreUrl } from '../service-urls.ts';
import { createStyle, print, widthOf } from '../terminal.ts';

type Shown = Status & { problems: Finding[] };

async function text(found: Shown): Promise<string> {
  const { renderStatus } = await import('../status/render-status.ts');
  return renderStatus(found, Date.now(), createStyle(process.stdout), widthOf(process.stdout));
}

/** Shows what runs, and what is wrong. Exit code 0 when all is well, 3 when no process runs, else 1. */
export async function status({ json }: { json?: boolean }): Promise<number> {
  const settings = loadSettings(repositoryRoot);
  const found = await masked(settings, await collect(settings));
  print(json === true ? JSON.stringify(found, null, 2) : await text(found));
  if (isAllWell(found) && found.problems.length === 0) return exitCodes.ok;
  return found.supervisor === null ? exitCodes.notRunning : exitCodes.failed;
}

/** The processes are asked first; the code that evaluates their answers is loaded meanwhile. */
async function collect(settings: Settings): Promise<Shown> {
  const core = askCore(coreUrl(settings));
  const asked = collectStatus(settings, core);
  const [{ lookAround }, { glanceAtDatabases }] = await Promise.all([
    import('../doctor/look-around.ts'),
    import('../doctor/glance-at-databases.ts'),
  ]);
  const [status, ...around] = await Promise.all([asked, lookAround(settings, core, asked), glanceAtDatabases(settings.dataDir)]);
  return { ...status, problems: around.flat().filter(({ state }) => state === 'problem') };
}

/**
 * The processes mask their own answers. Problems may quote files, logs and other programs, so they are masked here; loading that mask takes
 * longer than everything else.
 */
async function masked(settings: Settings, found: Shown): Promise<Shown> {
  const { supervisor, services, instances, problems } = found;
  const isQuoting =
    problems.length > 0 ||
    (supervisor?.faults.length ?? 0) > 0 ||
    services.some(({ reason, last_exit, last_lines }) => reason !== null || last_exit !== null || last_lines.length > 0) ||
    instances.some(({ reason }) => reason !== null);
  if (!isQuoting) return found;
  const { openOutputMask } = await import('../output-mask.ts');
  return openOutputMask({ settings }).value(found);
}
