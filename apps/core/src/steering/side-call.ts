import type { TokenUsage } from '@svc/contract/usage.ts';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import type { OutputLimits } from '@svc/engine-kit/output-limits.ts';
import { estimateUsage } from '@svc/engine-kit/usage.ts';
import type { SideCallDeps } from '../engine/check-engine.ts';
import type { ActiveEngine } from '../engine/engine-pool.ts';
import type { Charge } from '../pricing/pricing.ts';
import { runEngine, type EngineEnding } from '../turn/run-engine.ts';

/** A question to an engine that is no turn. `text`: what of the prompt is somebody's own words. */
export type SideCall = {
  purpose: NonNullable<EngineRequest['purpose']>;
  system: string;
  prompt: string;
  text: string;
  /** How much the engine may say: what it says beyond ends the call. */
  output: OutputLimits;
  limitMs: number;
};

/** What the engine said, and what it cost, also when it failed. */
export type SideAnswer = { said: string; ending: EngineEnding; charge: Charge };

type Deps = Pick<SideCallDeps, 'workspaces' | 'pricing' | 'ids' | 'clock'>;

const graceMs = 2000;

/**
 * Asks an engine something beside all turns: without a session, without tools, bounded in time and in what it may say. The
 * caller counts the charge.
 */
export async function sideCall(deps: Deps, active: ActiveEngine, call: SideCall, signal?: AbortSignal): Promise<SideAnswer> {
  let said = '';
  let block = '';
  let usage: TokenUsage | null = null;
  let model = active.choice.model;
  const { limitMs, output } = call;
  const limit = AbortSignal.timeout(limitMs);
  const bounds = {
    signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
    idleMs: limitMs,
    maxMs: limitMs,
    graceMs,
    output,
    clock: deps.clock,
  };
  const ending = await runEngine(active.engine, toRequest(deps, active, call), bounds, (event) => {
    if (event.type === 'delta') block += event.text;
    if (event.type === 'segment') said = event.text === '' ? block : event.text;
    if (event.type === 'usage') usage = event.usage;
    if (event.type === 'session') model = event.model ?? model;
  });
  const charge = deps.pricing.charge({
    usage: usage ?? estimateUsage({ input: call.text, output: said }),
    model,
    engineId: active.engine.id,
    auth: active.auth,
  });
  return { said: said === '' ? block : said, ending, charge };
}

function toRequest({ ids, workspaces }: Deps, { choice }: ActiveEngine, call: SideCall): EngineRequest {
  const { purpose, system, prompt, text } = call;
  return {
    conversationKey: ids.next(purpose),
    purpose,
    prompt,
    text,
    system,
    attachments: [],
    filesDir: null,
    transcript: [],
    resume: null,
    model: choice.model,
    cwd: workspaces.sideFolder('titles'),
    trustedFolder: false,
    toolPolicy: 'none',
    toolServers: [],
    facts: { channel: purpose, sender: 'the service', tier: 'GUEST', public: false, channel_context: {} },
  };
}
