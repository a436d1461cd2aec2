import type { TokenUsage } from '@svc/contract/usage.ts';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { sideOutput } from '@svc/engine-kit/output-limits.ts';
import { dataBlock, dataLine } from '@svc/engine-kit/prompt-blocks.ts';
import { estimateUsage } from '@svc/engine-kit/usage.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { textInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import { ServiceError, upstream } from '@svc/service-kit/service-error.ts';
import type { SideCallDeps } from '../engine/check-engine.ts';
import type { ActiveEngine } from '../engine/engine-pool.ts';
import type { EngineRegistry } from '../engine/engine-registry.ts';
import { asEngineId, type EngineFallback } from '../engine/fallback.ts';
import { runEngine, type EngineEnding } from '../turn/run-engine.ts';

export type TitleDeps = SideCallDeps & { engines: EngineRegistry; engineFallback: EngineFallback };
const limitMs = 60_000;
const graceMs = 2000;
const maxInput = 4000;
const maxTitle = 80;
const instruction =
  'Write a title of at most eight words for a conversation that begins with the text below. Answer with the title alone, in the language of the text.';

/** Names a conversation by a side call to an engine. */
export interface TitleMaker {
  /** @throws ServiceError `busy` while another title is being made, or what the engine failed with. */
  title(text: string): Promise<string>;
}

/** Titles by the engine in use, without tools and without a session; one at a time, so that they never crowd out turns. */
export function createTitleMaker(deps: TitleDeps): TitleMaker {
  let isBusy = false;
  const redact = (text: string) => textInSlices(deps.knownSecrets.redactor(), text);

  /** The engines that stand in for the default one in turns do so here too. */
  async function make(text: string): Promise<string> {
    const { engines, engineFallback: fallback } = deps;
    const first = await engines.active();
    const { ids } = fallback.order(first.choice.id);
    for (const [place, id] of ids.entries()) {
      const active = id === first.choice.id ? first : await engines.open(asEngineId(id));
      const { said, ending } = await ask(active, cutText(text, maxInput));
      if (ending?.type === 'done') {
        const title = toTitle(await redact(said));
        if (title !== '') return title;
      }
      if (ending?.type !== 'failed') break;
      // Masked here, because a later turn says why this engine is passed over.
      const failure = { ...ending.failure, message: await redact(ending.failure.message) };
      fallback.failed(id, failure);
      const isLast = place === ids.length - 1;
      if (isLast || !fallback.stands(failure.code)) throw new ServiceError(failure.code, failure.message);
    }
    throw upstream('The engine gave no title. Try again.');
  }

  async function ask(active: ActiveEngine, text: string): Promise<{ said: string; ending: EngineEnding }> {
    let said = '';
    let block = '';
    let usage: TokenUsage | null = null;
    let model = active.choice.model;
    const signal = AbortSignal.timeout(limitMs);
    const bounds = { signal, idleMs: limitMs, maxMs: limitMs, graceMs, output: sideOutput, clock: deps.clock };
    const ending = await runEngine(active.engine, toRequest(deps, active, text), bounds, (event) => {
      if (event.type === 'delta') block += event.text;
      if (event.type === 'segment') said = event.text === '' ? block : event.text;
      if (event.type === 'usage') usage = event.usage;
      if (event.type === 'session') model = event.model ?? model;
    });
    const charge = deps.pricing.charge({
      usage: usage ?? estimateUsage({ input: text, output: said }),
      model,
      engineId: active.engine.id,
      auth: active.auth,
    });
    deps.events.sideUsage('title', charge);
    deps.spend.add({ principal_id: null, principal_key: null }, charge.usage.cost_usd);
    return { said: said === '' ? block : said, ending };
  }

  return {
    async title(text: string): Promise<string> {
      if (isBusy)
        throw new ServiceError('busy', 'A title is being made already. Try again in a moment.', {
          details: { retry_after_s: 1 },
        });
      isBusy = true;
      try {
        return await make(text);
      } finally {
        isBusy = false;
      }
    },
  };
}

function toRequest(deps: TitleDeps, { choice }: ActiveEngine, text: string): EngineRequest {
  return {
    conversationKey: deps.ids.next('title'),
    purpose: 'title',
    prompt: `${instruction}\n\n${dataBlock('title', [dataLine({ text })])}`,
    text,
    system: 'You name conversations.',
    attachments: [],
    filesDir: null,
    transcript: [],
    resume: null,
    model: choice.model,
    cwd: deps.workspaces.sideFolder('titles'),
    trustedFolder: false,
    toolPolicy: 'none',
    toolServers: [],
    facts: { channel: 'title', sender: 'the service', tier: 'GUEST', public: false, channel_context: {} },
  };
}

/** One line without quotes or a full stop, as people write titles. */
function toTitle(text: string): string {
  const [line = ''] = text.trim().split('\n');
  return cutText(line.replace(/^["'“«#*\s]+/, '').replace(/(?<!["'”»*.\s])["'”»*.\s]+$/, ''), maxTitle).trim();
}
