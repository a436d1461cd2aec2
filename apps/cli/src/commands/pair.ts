import type { LinkResult, PendingIdentity } from '@svc/contract/pairing.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { askCore, type CoreAnswer } from '../ask-core.ts';
import { CliError } from '../cli-error.ts';
import { coreUrl } from '../core-url.ts';
import { renderLink } from '../pair/render-link.ts';
import { renderPending } from '../pair/render-pending.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print } from '../terminal.ts';

export type PairOptions = { as?: string; role?: string; name?: string; json?: boolean };

/** Lists those who wait to be let in, or lets in the one whose code it is given. */
export function pair(code: string, options: PairOptions): Promise<number> {
  if (code.trim() !== '') return approve(code, options);
  if ((options.as ?? options.role ?? options.name) === undefined) return list(options);
  throw new CliError('a code is missing.', { why: 'Whom to let in is said by the code they were given.', run: './svc pair' });
}

async function list({ json }: PairOptions): Promise<number> {
  const answer = await askCore<{ pending: PendingIdentity[] }>(`${coreUrl(loadSettings(repositoryRoot))}/trust/pending`);
  return show(answer, json, ({ pending }) => renderPending(pending, Date.now(), createStyle(process.stdout)));
}

async function approve(code: string, { json, as, role, name }: PairOptions): Promise<number> {
  const url = coreUrl(loadSettings(repositoryRoot));
  const answer = await askCore<LinkResult>(`${url}/trust/pair`, { body: { code, as, role, name } });
  return show(answer, json, (done) => renderLink(done, createStyle(process.stdout)));
}

function show<T>(answer: CoreAnswer<T>, json: boolean | undefined, render: (body: T) => string): number {
  if (json === true) print(JSON.stringify(answer.body, null, 2));
  else if (answer.ok) print(render(answer.body));
  else throw new CliError('nobody was let in.', { why: answer.body.message, run: './svc pair' });
  return answer.ok ? exitCodes.ok : exitCodes.failed;
}
