import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { openOutputMask } from '../output-mask.ts';
import { repositoryRoot } from '../repository-root.ts';
import { collectStatus, isAllWell, type Status } from '../status/collect-status.ts';
import { renderStatus } from '../status/render-status.ts';
import { createStyle, print, widthOf } from '../terminal.ts';

const text = (found: Status): string => renderStatus(found, Date.now(), createStyle(process.stdout), widthOf(process.stdout));

/** Shows what runs; the exit code says whether all is well. */
export async function status({ json }: { json?: boolean }): Promise<number> {
  const settings = loadSettings(repositoryRoot);
  const found = await openOutputMask({ settings }).value(await collectStatus(settings));
  print(json === true ? JSON.stringify(found, null, 2) : text(found));
  return isAllWell(found) ? exitCodes.ok : exitCodes.failed;
}
