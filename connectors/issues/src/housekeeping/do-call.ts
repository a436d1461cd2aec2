import { ServiceError, type StartContext } from '@svc/connector-kit';
import type { GitHubApi } from '../github/github-api.ts';
import type { meta, Config } from '../meta.ts';
import { placeOf, repoName, toTarget, type IssuePlace } from '../outgoing/issue-place.ts';
import { safeText } from '../outgoing/safe-text.ts';

type Deps = Pick<StartContext<Config>, 'config' | 'emit' | 'log'> & {
  api: Pick<GitHubApi, 'write'>;
  /** Counts a comment. Rejects with `busy` when there were too many. */
  count(): Promise<void>;
  /** In the pace of the account. */
  paced<T>(target: string, write: () => Promise<T>, signal: AbortSignal): Promise<T>;
};
type Params = Record<string, unknown>;
type Act = (on: Pick<Deps, 'api' | 'count'>, place: IssuePlace, params: Params, signal: AbortSignal) => Promise<unknown>;

const issueRoute = 'PATCH /repos/{owner}/{repo}/issues/{issue_number}';
const labelsRoute = '/repos/{owner}/{repo}/issues/{issue_number}/labels';

const acts: Readonly<Record<(typeof meta.calls)[number], Act>> = {
  close_issue: ({ api }, place, _params, signal) => api.write(issueRoute, { ...place, state: 'closed' }, signal),
  reopen_issue: ({ api }, place, _params, signal) => api.write(issueRoute, { ...place, state: 'open' }, signal),
  add_labels: ({ api }, place, params, signal) =>
    api.write(`POST ${labelsRoute}`, { ...place, labels: labelsOf(params) }, signal),
  async remove_labels({ api }, place, params, signal) {
    for (const name of labelsOf(params))
      await api.write(`DELETE ${labelsRoute}/{name}`, { ...place, name }, signal).catch(unlessGone);
  },
  async add_comment({ api, count }, place, params, signal) {
    await count();
    const body = safeText(textOf(params), null);
    return api.write('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...place, body }, signal);
  },
};

/** Does the requested housekeeping on the issue of the conversation. Each action is logged and recorded as an event. */
export function createDoCall({ config, api, count, emit, log, paced }: Deps) {
  return async (target: string, method: string, params: Params, signal: AbortSignal): Promise<unknown> => {
    const act = Object.hasOwn(acts, method) ? acts[method as keyof typeof acts] : undefined;
    if (act === undefined) throw new ServiceError('not_found', `Unknown method ${method}.`);
    const place = placeOf(target, config.repos);
    const what = { method, place: toTarget(place), repo: repoName(place), params, dry_run: config.dry_run };
    let outcome = 'failed';
    try {
      check(method, params);
      if (!config.dry_run) await paced(toTarget(place), () => act({ api, count }, place, params, signal), signal);
      outcome = 'done';
    } finally {
      log('info', config.dry_run ? 'would do (dry run)' : 'housekeeping', { ...what, outcome });
      emit({ kind: 'housekeeping', text: `${method} ${toTarget(place)}`, payload: { ...what, outcome } });
    }
    return { ok: true, ...(config.dry_run && { dry_run: 'nothing was changed: this is a dry run' }) };
  };
}

/** Before anything is written. */
function check(method: string, params: Params): void {
  if (method.endsWith('_labels')) labelsOf(params);
  if (method === 'add_comment') textOf(params);
}

/** The params come from a model and are not validated. */
function labelsOf({ labels }: Params): string[] {
  const isLabel = (one: unknown): one is string => typeof one === 'string' && one.trim() !== '' && one.length <= 50;
  if (Array.isArray(labels) && labels.length > 0 && labels.length <= 20 && labels.every(isLabel)) return labels;
  throw new ServiceError('bad_request', '"labels" must be a list of 1 to 20 names of at most 50 characters each.');
}

function textOf({ text }: Params): string {
  if (typeof text === 'string' && text.trim() !== '' && text.length <= 60_000) return text;
  throw new ServiceError('bad_request', '"text" must be a string of at most 60,000 characters.');
}

function unlessGone(error: unknown): void {
  if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
}
