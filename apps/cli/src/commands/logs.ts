import { setTimeout as sleep } from 'node:timers/promises';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { CliError } from '../cli-error.ts';
import { createLogTail, listLogs, type LogTail } from '../logs/log-tail.ts';
import { renderLogEntry, type LogEntry } from '../logs/log-line.ts';
import { openOutputMask } from '../output-mask.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print, printError } from '../terminal.ts';

export type LogsOptions = { follow?: boolean; lines: number; json?: boolean };

const pollMs = 250;

/** The logs of one or all processes in order of time; with `follow` until Ctrl-C. */
export async function logs(name: string | null, { follow, lines, json }: LogsOptions): Promise<number> {
  const settings = loadSettings(repositoryRoot);
  const { logs: dir } = dataPaths(settings.dataDir);
  const known = listLogs(dir);
  if (name !== null && !known.includes(name)) {
    throw new CliError(`there is no log of "${name}".`, {
      why: known.length === 0 ? `${dir} is empty.` : `There are ${known.join(', ')}.`,
      run: './svc logs',
    });
  }
  if (known.length === 0 && follow !== true)
    throw new CliError('there are no logs yet.', { why: `${dir} is empty.`, run: './svc up' });
  if (known.length === 0) printError(`There are no logs yet in ${dir}. New lines are shown here; Ctrl-C quits.`);
  const style = createStyle(process.stdout);
  const mask = openOutputMask({ settings });
  const show = async (entries: readonly LogEntry[]) => {
    const lines = await mask.lines(entries.map(({ raw }) => raw));
    for (const [i, entry] of entries.entries()) {
      const raw = lines[i] ?? '';
      print(json === true ? raw : renderLogEntry({ ...entry, raw }, style));
    }
  };
  const tails = new Map<string, LogTail>();
  const readAll = (isFirst: boolean): LogEntry[] => {
    for (const log of name === null ? listLogs(dir) : [name]) {
      // A log that appears later is shown from its beginning.
      if (!tails.has(log)) tails.set(log, createLogTail(dir, log, isFirst ? lines : Number.MAX_SAFE_INTEGER));
    }
    return [...tails.values()].flatMap((tail) => tail.read()).sort((a, b) => a.at - b.at);
  };
  const first = readAll(true);
  await show(lines === 0 ? [] : first.slice(-lines));
  while (follow === true) {
    await sleep(pollMs);
    await show(readAll(false));
  }
  return exitCodes.ok;
}
