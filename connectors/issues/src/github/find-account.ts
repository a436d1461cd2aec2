import type { ConnectorState, StartContext } from '@svc/connector-kit';
import { isPassing } from '@svc/connector-kit/ingress/passing-faults.ts';
import { errorText, ServiceError } from '@svc/service-kit/service-error.ts';
import { meta, type Config, type Repo } from '../meta.ts';
import { repoName } from '../outgoing/issue-place.ts';
import type { GitHubApi } from './github-api.ts';

/** The account of the token, and the repositories that it watches. */
export type Account = {
  id: number;
  login: string;
  repos: readonly WatchedRepo[];
  /** Why the token cannot write; null when GitHub reports no such limit. Only relevant when `dry_run` is off. */
  cannotWrite: string | null;
};
/** `since`: when the repository was first watched, by GitHub's clock. */
export type WatchedRepo = Repo & { isPrivate: boolean; since: string; isNew: boolean };

type Deps = Pick<StartContext<Config>, 'state' | 'log' | 'signal' | 'config'> & { api: GitHubApi };
type Known = { id: number; login: string };

/**
 * Looks up the account, its repositories and the permissions of the token. If GitHub cannot be reached, the result of the last
 * start is used.
 */
export async function findAccount(deps: Deps): Promise<Account> {
  const { state, log, config, signal } = deps;
  const known = await state.get<Known>('account');
  try {
    return await lookUp(deps);
  } catch (error) {
    signal.throwIfAborted();
    const since = await Promise.all(config.repos.map((one) => state.get<Kept>(sinceKey(one))));
    if (known === undefined || !isPassing(error) || since.includes(undefined)) throw error;
    log('warn', 'GitHub cannot be reached yet; the channel is opened anyway', { error: errorText(error) });
    return {
      ...known,
      cannotWrite: null,
      repos: config.repos.map((one, n) => ({ ...one, ...(since[n] as Kept), isNew: false })),
    };
  }
}

type Kept = { since: string; isPrivate: boolean };
const repoKeys = 'repo/';
const sinceKey = (repo: Repo): string => `${repoKeys}${repoName(repo)}`;
/** Prefix of the keys that store how far the lists of a repository were read. */
export const feedKey = (kind: 'comments' | 'issues', name: string): string => `${kind}/${name}/`;
const feedKeys = (name: string): string[] => [feedKey('comments', name), feedKey('issues', name)];

async function lookUp({ api, state, signal, config, log }: Deps): Promise<Account> {
  const me = await api.read('GET /user', {}, signal).catch((error: unknown) => {
    throw withPlace(error, config.api_url);
  });
  if (me === null) throw new Error('GitHub did not say which account this token belongs to.');
  const { login } = me.data;
  const id = Number(me.data.id);
  const cannotWrite = missingScope(me.headers['x-oauth-scopes']);
  if (cannotWrite !== null && !config.dry_run) throw new Error(cannotWrite);
  await state.set('account', { id, login });
  const now = new Date(Date.parse(me.headers['date'] ?? '') || Date.now()).toISOString();
  const repos: WatchedRepo[] = [];
  for (const one of config.repos) {
    const found = await api
      .read('GET /repos/{owner}/{repo}', { owner: one.owner, repo: one.repo }, signal)
      .catch((error: unknown) => {
        throw notReadable(one, login, error);
      });
    const isPrivate = found?.data.private !== false;
    const kept = await state.get<Kept>(sinceKey(one));
    const since = kept?.since ?? now;
    await state.set(sinceKey(one), { since, isPrivate });
    if (found?.data.archived === true)
      log('warn', 'a repository is archived, so nothing can be written to it', { repo: repoName(one) });
    repos.push({ ...one, isPrivate, since, isNew: kept === undefined });
  }
  await forgetOthers(config.repos, state);
  return { id, login, repos, cannotWrite };
}

/** A repository that is no longer watched counts as new when it returns: messages written in the meantime were not for us. */
async function forgetOthers(watched: readonly Repo[], state: ConnectorState): Promise<void> {
  const ours = new Set(watched.map(sinceKey));
  for (const { key } of await state.list(repoKeys)) {
    if (ours.has(key)) continue;
    const name = key.slice(repoKeys.length);
    const places = await Promise.all(feedKeys(name).map((prefix) => state.list(prefix)));
    await state.change(Object.fromEntries([key, ...places.flat().map((place) => place.key)].map((gone) => [gone, undefined])));
  }
}

/** GitHub reports the scopes of classic tokens only. With others, a missing permission shows when a request is refused. */
function missingScope(header: string | undefined): string | null {
  if (header === undefined) return null;
  const scopes = header.split(',').map((one) => one.trim());
  if (scopes.includes('repo') || scopes.includes('public_repo')) return null;
  const has = header.trim() === '' ? 'it has no scopes' : `its scopes are "${header}"`;
  return `This token has no permission to write: ${has}. It needs "repo", or "public_repo" if all repositories are public; a fine-grained token needs "Issues: read and write".`;
}

/** The first request shows whether `api_url` is right, so an error that may be due to it names the address. */
function withPlace(error: unknown, apiUrl: string): unknown {
  const isOfToken = error instanceof ServiceError && ['unauthorized', 'forbidden'].includes(error.code);
  const isLimit = error instanceof ServiceError && error.details['global'] === true;
  if (isOfToken || isLimit || apiUrl === meta.configSchema.properties.api_url.default || !(error instanceof Error)) return error;
  const said = `${error.message} The request went to ${apiUrl}. For a GitHub Enterprise Server, api_url is https://HOST/api/v3.`;
  return error instanceof ServiceError ? new ServiceError(error.code, said, { details: error.details }) : new Error(said);
}

function notReadable(repo: Repo, login: string, error: unknown): unknown {
  if (isPassing(error)) return error;
  return new Error(
    `${login} cannot read ${repoName(repo)}: ${errorText(error)} Check its name and the permissions of the token.`,
  );
}
