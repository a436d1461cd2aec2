import { loadSettings, type Settings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { glanceAtDatabases } from '../doctor/examine-databases.ts';
import type { Finding } from '../doctor/finding.ts';
import { lookAround } from '../doctor/look-around.ts';
import { openOutputMask } from '../output-mask.ts';
import { repositoryRoot } from '../repository-root.ts';
import { collectStatus, isAllWell, type Status } from '../status/collect-status.ts';
import { renderStatus } from '../status/render-status.ts';
import { createStyle, print, widthOf } from '../terminal.ts';

type Shown = Status & { problems: Finding[] };

const text = (found: Shown): string => renderStatus(found, Date.now(), createStyle(process.stdout), widthOf(process.stdout));

/** Shows what runs, and what is wrong. Exit code 0 when all is well, 3 when nothing of it runs, else 1. */
export async function status({ json }: { json?: boolean }): Promise<number> {
  const settings = loadSettings(repositoryRoot);
  const found = await openOutputMask({ settings }).value(await collect(settings));
  print(json === true ? JSON.stringify(found, null, 2) : text(found));
  if (isAllWell(found) && found.problems.length === 0) return exitCodes.ok;
  return found.supervisor === null ? exitCodes.notRunning : exitCodes.failed;
}

async function collect(settings: Settings): Promise<Shown> {
  const status = await collectStatus(settings);
  const around = [...(await lookAround(settings, status)), ...glanceAtDatabases(settings.dataDir)];
  return { ...status, problems: around.filter(({ state }) => state === 'problem') };
}
