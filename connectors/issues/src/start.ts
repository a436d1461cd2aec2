import { createIngress, systemClock, type Clock, type RunningConnector, type StartContext } from '@svc/connector-kit';
import { findAccount, type Account } from './github/find-account.ts';
import { createGitHubApi } from './github/github-api.ts';
import { createDoCall } from './housekeeping/do-call.ts';
import { firstLook } from './incoming/first-look.ts';
import { createMentionMatcher } from './incoming/is-mentioned.ts';
import { openIncoming } from './incoming/open-incoming.ts';
import type { TakeDeps } from './incoming/take-post.ts';
import { checkoutsFolder, type Config } from './meta.ts';
import { createOutgoing } from './outgoing/create-outgoing.ts';
import { placeOf, repoName } from './outgoing/issue-place.ts';

/** Opens the channel. What it throws is shown to the operator, so it says what is wrong and what to do. `clock`: of its pace, its looks and its pauses. */
export async function start(ctx: StartContext<Config>, clock: Clock = systemClock): Promise<RunningConnector> {
  const { config, core, state, log, signal } = ctx;
  checkConfig(config);
  const token = readToken(await ctx.secrets.get(config.pat_secret_key));
  const api = createGitHubApi(token, config.api_url, clock);
  const account = await findAccount({ ...ctx, api });
  const mention = config.mention === '' ? `@${ctx.assistantName}` : config.mention;
  const outgoing = await createOutgoing({ ...ctx, api, account, clock });
  const ingress = createIngress({ core, state, log, clock, openReply: outgoing.openReply });
  const { own, seen, paced, count, isAsked } = outgoing;
  const deps: TakeDeps = {
    ...ctx,
    api,
    ingress,
    mention,
    seen,
    isAsked,
    own: account,
    isMentioned: createMentionMatcher(mention),
    isAnswered: own.isAnswered,
  };
  const steps = await firstSteps({ ...deps, api }, account, signal);
  const incoming = openIncoming(ctx, { ...deps, api, clock, repos: account.repos });
  const webhook = await openHook(ctx, incoming.look);
  return {
    firstSteps: steps,
    send: async (message, ended) => {
      placeOf(message.target, config.repos);
      return outgoing.send(message, ended);
    },
    call: createDoCall({ ...ctx, api, paced, count }),
    async stop() {
      const withinMs = ctx.stopTimeoutMs * 0.8;
      await Promise.all([incoming.ended, ingress.stop(withinMs), webhook?.stop(withinMs)]);
    },
    health() {
      const problem = incoming.problem();
      return problem === null ? { healthy: true } : { healthy: false, detail: problem };
    },
  };
}

async function openHook(ctx: StartContext<Config>, ring: (repository: string) => void) {
  const { webhook_port: port, webhook_secret_key: name } = ctx.config;
  if (port === 0 || name === undefined) return undefined;
  const secret = await ctx.secrets.get(name);
  const { openWebhook } = await import('./incoming/webhook.ts');
  return openWebhook({ ...ctx, port, secret, ring });
}

/** The account and what it would have answered; only when a repository is watched for the first time. */
async function firstSteps(deps: Parameters<typeof firstLook>[0] & { mention: string }, account: Account, signal: AbortSignal) {
  const { config, mention } = deps;
  const isNew = account.repos.some((repo) => repo.isNew);
  if (!isNew) return undefined;
  const looked = await Promise.all(account.repos.filter((repo) => repo.isNew).map((repo) => firstLook(deps, repo, signal)));
  return [
    `The assistant is ${account.login} in ${account.repos.map(repoName).join(', ')}. Mention ${mention} to call it.`,
    ...looked.flat(),
    'Let people in by their login: ./svc person add NAME "Their name" --role known, then ./svc person link NAME issues LOGIN',
    ...(account.cannotWrite === null ? [] : [account.cannotWrite]),
    ...(config.dry_run
      ? ['This is a dry run: the log shows what it would post. To post for real: ./svc connector config NAME --set dry_run=false']
      : []),
  ].join('\n');
}

function checkConfig({ workspace_dir, webhook_port, webhook_secret_key, repos }: Config): void {
  if (workspace_dir !== checkoutsFolder)
    throw new Error(
      `The service keeps all copies of repositories in "${checkoutsFolder}" of its data folder. Do not change workspace_dir.`,
    );
  if (webhook_port !== 0 && webhook_secret_key === undefined)
    throw new Error("webhook_port also needs webhook_secret_key, the name of the secret that holds the webhook's secret.");
  const names = repos.map((repo) => repoName(repo).toLowerCase());
  const twice = names.find((name, n) => names.indexOf(name) !== n);
  if (twice !== undefined) throw new Error(`${twice} is listed twice in repos.`);
}

/** It becomes a header. */
function readToken(token: string): string {
  if (/^[\x21-\x7e]{10,1000}$/.test(token)) return token;
  throw new Error(
    'The secret that pat_secret_key names is not a GitHub access token. A token looks like github_pat_… or ghp_…; create one at https://github.com/settings/tokens.',
  );
}
