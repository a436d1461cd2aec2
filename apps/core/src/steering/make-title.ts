import { sideOutput } from '@svc/engine-kit/output-limits.ts';
import { dataBlock, dataLine } from '@svc/engine-kit/prompt-blocks.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { textInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import { ServiceError, upstream } from '@svc/service-kit/service-error.ts';
import type { SideCallDeps } from '../engine/check-engine.ts';
import type { ActiveEngine } from '../engine/engine-pool.ts';
import type { EngineRegistry } from '../engine/engine-registry.ts';
import { asEngineId, type EngineFallback } from '../engine/fallback.ts';
import { lineSaid } from '../session/title-text.ts';
import { sideCall, type SideCall } from './side-call.ts';
import type { TitleLane } from './title-lane.ts';

export type TitleDeps = SideCallDeps & { engines: EngineRegistry; engineFallback: EngineFallback; titleLane: TitleLane };
const limitMs = 60_000;
const maxInput = 4000;
const maxTitle = 80;
const instruction =
  'Write a title of at most eight words for a conversation that begins with the text below. Answer with the title alone, in the language of the text.';

/** What an engine is asked for a title with. */
export const titleCall = (text: string, reply?: string): SideCall => ({
  purpose: 'title',
  system: 'You name conversations.',
  prompt: `${instruction}\n\n${dataBlock('title', [dataLine({ text: cutText(text, maxInput), reply })])}`,
  text: cutText(text, maxInput),
  output: sideOutput,
  limitMs,
});

/** Names a conversation by a side call to an engine. */
export interface TitleMaker {
  /** @throws ServiceError `busy` while another title is being made, or what the engine failed with. */
  title(text: string): Promise<string>;
}

/** Titles by the engine in use, without tools and without a session; one at a time, so that they never crowd out turns. */
export function createTitleMaker(deps: TitleDeps): TitleMaker {
  const redact = (text: string) => textInSlices(deps.knownSecrets.redactor(), text);

  /** The engines that stand in for the default one in turns do so here too. */
  async function make(text: string): Promise<string> {
    const { engines, engineFallback: fallback } = deps;
    const first = await engines.active();
    const { ids } = fallback.order(first.choice.id);
    for (const [place, id] of ids.entries()) {
      const active = id === first.choice.id ? first : await engines.open(asEngineId(id));
      const { said, ending } = await ask(active, text);
      if (ending?.type === 'done') {
        const title = cutText(lineSaid(await redact(said)), maxTitle).trim();
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

  async function ask(active: ActiveEngine, text: string) {
    const answer = await sideCall(deps, active, titleCall(text));
    deps.events.sideUsage('title', answer.charge);
    deps.spend.add({ principal_id: null, principal_key: null }, answer.charge.usage.cost_usd);
    return answer;
  }

  return {
    async title(text: string): Promise<string> {
      const release = deps.titleLane.take();
      if (release === null)
        throw new ServiceError('busy', 'A title is being made already. Try again in a moment.', {
          details: { retry_after_s: 1 },
        });
      try {
        return await make(text);
      } finally {
        release();
      }
    },
  };
}
