import type { TriageAnswer, TriageRequest } from '@svc/contract/triage.ts';
import { sideOutput } from '@svc/engine-kit/output-limits.ts';
import { dataBlock, dataLine } from '@svc/engine-kit/prompt-blocks.ts';
import { textInSlices, valueInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import { queueFull, upstream } from '@svc/service-kit/service-error.ts';
import type { Speaker } from '../speech/speaker.ts';
import { readAnswer, toJsonSchema, type ReadAnswer } from './read-answer.ts';
import { askEngines, checkLimit, operatorProgram, type EnginesDeps, type SideCall } from './side-call.ts';

/** Classifies texts with structured answers: the kind of an issue, or whether a mail needs a reply. */
export type Triage = {
  /** Asks again once when the answer does not match its form. @throws ServiceError `upstream` when the second one does not either. */
  ask(request: TriageRequest, signal: AbortSignal, speaker: Speaker | null): Promise<TriageAnswer>;
};

const limitMs = 60_000;
const maxRunning = 2;
const system = 'You sort what comes in. You answer with one JSON object and nothing else.';

export function createTriage(deps: EnginesDeps): Triage {
  let running = 0;
  const redact = (text: string) => textInSlices(deps.knownSecrets.redactor(), text);

  async function ask(request: TriageRequest, signal: AbortSignal, speaker: Speaker | null): Promise<TriageAnswer> {
    let problem: string | null = null;
    for (let attempt = 0; attempt < 2; attempt++) {
      const read: ReadAnswer | null = await askEngines(deps, {
        call: toCall(request, problem),
        signal,
        redact,
        counted(charge) {
          deps.events.sideUsage('triage', charge);
          deps.spend.addSideCall(speaker?.identity ?? operatorProgram, charge.usage.cost_usd, speaker?.from);
        },
        read: (said) => readAnswer(request.answer, said),
      });
      if (read !== null && 'answer' in read) {
        // The answer goes to a program, and the model may have read secrets.
        return (await valueInSlices(deps.knownSecrets.redactor(), read.answer)) as TriageAnswer;
      }
      problem = read?.problem ?? 'there was none';
      if (signal.aborted) break;
    }
    throw upstream(`The engine did not answer in the requested form: ${problem}.`);
  }

  return {
    async ask(request, signal, speaker) {
      checkLimit(deps.spend, speaker?.identity ?? operatorProgram, speaker?.from);
      if (running >= maxRunning) throw queueFull('Other texts are being sorted. Try again in a moment.');
      running++;
      try {
        return await ask(request, signal, speaker);
      } finally {
        running--;
      }
    },
  };
}

function toCall({ instruction, text, answer }: TriageRequest, problem: string | null): SideCall {
  const form = `Answer with one JSON object that fits this JSON Schema:\n${JSON.stringify(toJsonSchema(answer))}`;
  const again = problem === null ? [] : [`Your last answer did not fit: ${problem}.`];
  const prompt = [instruction, form, ...again, dataBlock('triage', [dataLine({ text })])].join('\n\n');
  return { purpose: 'triage', system, prompt, text, output: sideOutput, limitMs };
}
