import type { EngineTest } from '@svc/contract/engine.ts';
import type { TokenUsage } from '@svc/contract/usage.ts';
import type { EngineEvent, EngineFailure, EngineRequest } from '@svc/engine-kit/engine.ts';
import { createOutputMeter, sideOutput } from '@svc/engine-kit/output-limits.ts';
import { estimateUsage } from '@svc/engine-kit/usage.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Events } from '../events.ts';
import type { Pricing } from '../pricing/pricing.ts';
import type { Workspaces } from '../session/workspaces.ts';
import type { Spend } from '../spend/spend.ts';
import type { ActiveEngine } from './engine-pool.ts';

/** What a completion outside a turn needs: it is priced and counted like any other. */
export type SideCallDeps = {
  knownSecrets: KnownSecrets;
  workspaces: Workspaces;
  pricing: Pricing;
  spend: Spend;
  ids: Ids;
  events: Events;
  clock: Clock;
};

type Heard = { text: string; model: string | null; usage: TokenUsage | null; last: EngineEvent | null };

const limitMs = 90_000;
/** How long an aborted engine has to end. */
const graceMs = 3000;
const question = 'This is a test of the connection. Answer with the one word: ready';
const maxText = 500;

/**
 * One real completion without tools and without a session, priced like any other.
 * @throws ServiceError with the engine's failure.
 */
export async function checkEngine(deps: SideCallDeps, active: ActiveEngine): Promise<EngineTest> {
  const since = deps.clock.elapsed();
  const heard: Heard = { text: '', model: active.choice.model, usage: null, last: null };
  const ending = new AbortController();
  const late = Promise.withResolvers<void>();
  const cancels = [deps.clock.after(limitMs, () => ending.abort()), deps.clock.after(limitMs + graceMs, late.resolve)];
  await Promise.race([listen(active, toRequest(deps, active), ending.signal, heard), late.promise]);
  for (const cancel of cancels) cancel();
  countUsage(deps, active, heard);
  const mask = (text: string) => deps.knownSecrets.redactor().text(text);
  if (heard.last?.type === 'done') {
    return { ok: true, text: mask(heard.text).trim().slice(0, maxText), ms: deps.clock.elapsed() - since, model: heard.model };
  }
  const failure = heard.last?.type === 'failed' ? heard.last.failure : silent(active.engine.id);
  throw new ServiceError(failure.code, mask(failure.message), { details: { retryable: failure.retryable } });
}

async function listen({ engine }: ActiveEngine, request: EngineRequest, signal: AbortSignal, heard: Heard): Promise<void> {
  const meter = createOutputMeter(sideOutput);
  for await (const said of engine.run(request, signal)) {
    const { event, exceeded } = meter.take(said);
    heard.last = exceeded === null ? event : { type: 'failed', failure: exceeded };
    if (exceeded !== null) return;
    if (event === null) continue;
    if (event.type === 'delta') heard.text += event.text;
    if (event.type === 'segment' && heard.text === '') heard.text = event.text;
    if (event.type === 'usage') heard.usage = event.usage;
    if (event.type === 'session') heard.model = event.model ?? heard.model;
  }
}

function countUsage({ pricing, events, spend }: SideCallDeps, active: ActiveEngine, { usage, text, model, last }: Heard): void {
  // An engine that is not installed or not logged in has called no model, so a failure without any output costs nothing.
  if (usage === null && text === '' && last?.type === 'failed') return;
  const charge = pricing.charge({
    usage: usage ?? estimateUsage({ input: question, output: text }),
    model,
    engineId: active.engine.id,
    auth: active.auth,
  });
  events.sideUsage('engine-test', charge);
  spend.addSideCall({ principal_id: null, principal_key: null }, charge.usage.cost_usd);
}

const silent = (id: string): EngineFailure => ({
  code: 'engine_stalled',
  message: `The engine ${id} did not answer within ${limitMs / 1000} s. See ./svc logs core.`,
  retryable: true,
});

const toRequest = ({ ids, workspaces }: SideCallDeps, { choice }: ActiveEngine): EngineRequest => ({
  conversationKey: ids.next('test'),
  purpose: 'title',
  prompt: question,
  text: question,
  system: 'You answer tests of a connection.',
  attachments: [],
  filesDir: null,
  transcript: [],
  resume: null,
  model: choice.model,
  cwd: workspaces.sideFolder('tests'),
  trustedFolder: false,
  toolPolicy: 'none',
  toolServers: [],
  facts: { channel: 'test', sender: 'the operator', tier: 'GUEST', public: false, channel_context: {} },
});
