import { sideOutput } from '@svc/engine-kit/output-limits.ts';
import { dataBlock, dataLine } from '@svc/engine-kit/prompt-blocks.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { textInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import { ServiceError, upstream } from '@svc/service-kit/service-error.ts';
import { lineSaid } from '../session/title-text.ts';
import { askEngines, checkLimit, operatorProgram, type EnginesDeps, type SideCall } from './side-call.ts';
import type { TitleLane } from './title-lane.ts';

export type TitleDeps = EnginesDeps & { titleLane: TitleLane };
const limitMs = 60_000;
const maxInput = 4000;
const maxTitle = 80;
const instruction =
  'Write a title of at most eight words for a conversation that begins with the text below. Answer with the title alone, in the language of the text.';

/** The request for a title. */
export const titleCall = (text: string, reply?: string): SideCall => ({
  purpose: 'title',
  system: 'You name conversations.',
  prompt: `${instruction}\n\n${dataBlock('title', [dataLine({ text: cutText(text, maxInput), reply })])}`,
  text: cutText(text, maxInput),
  output: sideOutput,
  limitMs,
});

/** Makes a title for a conversation with a side call to an engine. */
export interface TitleMaker {
  /** @throws ServiceError `forbidden` at a spending limit, `busy` while another title is being made, or the engine's error. */
  title(text: string): Promise<string>;
}

/** Titles from the engine in use, without tools and without a session; one at a time, so that they do not delay turns. */
export function createTitleMaker(deps: TitleDeps): TitleMaker {
  const redact = (text: string) => textInSlices(deps.knownSecrets.redactor(), text);

  async function make(text: string): Promise<string> {
    const title = await askEngines(deps, {
      call: titleCall(text),
      redact,
      counted(charge) {
        deps.events.sideUsage('title', charge);
        deps.spend.addSideCall(operatorProgram, charge.usage.cost_usd);
      },
      async read(said) {
        const line = cutText(lineSaid(await redact(said)), maxTitle).trim();
        return line === '' ? null : line;
      },
    });
    if (title === null) throw upstream('The engine gave no title. Try again.');
    return title;
  }

  return {
    async title(text: string): Promise<string> {
      checkLimit(deps.spend, operatorProgram);
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
