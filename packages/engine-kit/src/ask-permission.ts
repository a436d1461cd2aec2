import type { AskAnswer, AskOption } from '@svc/contract/ask.ts';
import type { EngineRequest } from './engine.ts';

export const yesNo: readonly AskOption[] = [
  { id: 'yes', label: 'Yes', style: 'primary' },
  { id: 'no', label: 'No', style: 'danger' },
];

/** A longer detail is shown with only its beginning and its end. */
const longDetail = 3000;

export type Permission = { allowed: true } | { allowed: false; why: string };

/** Asks the person for permission. `why` is for the model. */
export async function askPermission(
  ask: NonNullable<EngineRequest['ask']>,
  { what, detail }: { what: string; detail: string },
): Promise<Permission> {
  const answer = await ask({ text: permissionText(what, detail), options: yesNo });
  return answer.option === 'yes' ? { allowed: true } : { allowed: false, why: whyDenied(answer) };
}

function permissionText(what: string, detail: string): string {
  if (detail === '') return what;
  if (detail.length <= longDetail) return `${what}\n\n${detail}`;
  const half = longDetail / 2;
  const cut = `${detail.slice(0, half)}\n\n[… ${detail.length - longDetail} characters are not shown …]\n\n${detail.slice(-half)}`;
  return `${what} It has ${detail.length} characters; this is its beginning and its end.\n\n${cut}`;
}

/** The reason that the model gets when a question did not end with a yes. */
export function whyDenied({ option, outcome }: AskAnswer): string {
  switch (outcome) {
    case 'answered':
      return option === 'no' ? 'The person was asked and said no.' : `The person was asked and chose "${option}".`;
    case 'expired':
      return 'The person was asked and did not answer in time, so the action was not done. Do not ask again in this turn.';
    case 'unseen':
      return "The action needs the person's approval, and nobody can be asked here: this channel shows no questions, or nobody is there. It was not done. Say so in your answer.";
    case 'ended':
      return 'The turn has ended.';
    case 'refused':
      return 'This question is invalid, or this turn has asked too many questions. The action was not done.';
    case 'failed':
      return 'The question could not be asked because of an internal error. The action was not done.';
  }
}
