import type { LinkResult, PendingIdentity } from '@svc/contract/pairing.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { askCore } from '../service-client.ts';
import { CliError } from '../cli-error.ts';
import { coreUrl } from '../service-urls.ts';
import { renderLink, renderPending } from '../pair/render-pair.ts';
import { repositoryRoot } from '../repository-root.ts';
import { showAnswer, type RefusalHelp } from '../show-answer.ts';
import { createStyle } from '../terminal.ts';

export type PairOptions = { as?: string; role?: string; name?: string; json?: boolean };

const help: RefusalHelp = { what: 'no one was let in.', run: './svc pair' };

/** Lists the senders who wait for access, or lets in the sender of a code. */
export function pair(code: string, options: PairOptions): Promise<number> {
  if (code.trim() !== '') return approve(code, options);
  if ((options.as ?? options.role ?? options.name) === undefined) return list(options);
  throw new CliError('a code is missing.', { why: 'The code that the sender was given says whom to let in.', run: './svc pair' });
}

async function list(options: PairOptions): Promise<number> {
  const answer = await askCore<{ pending: PendingIdentity[] }>(`${coreUrl(loadSettings(repositoryRoot))}/trust/pending`);
  return showAnswer(answer, options, help, ({ pending }) => renderPending(pending, Date.now(), createStyle(process.stdout)));
}

async function approve(code: string, { json, as, role, name }: PairOptions): Promise<number> {
  const url = coreUrl(loadSettings(repositoryRoot));
  const answer = await askCore<LinkResult>(`${url}/trust/pair`, { body: { code, as, role, name } });
  return showAnswer(answer, { json }, help, (done) => renderLink(done, createStyle(process.stdout)));
}
