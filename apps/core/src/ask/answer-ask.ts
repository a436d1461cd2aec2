import type { Answered, AnswerRequest, AskOption } from '@svc/contract/ask.ts';
import type { Identity } from '@svc/contract/trust.ts';
import { resolveSpeaker } from '@svc/service-kit/resolve-speaker.ts';
import { badRequest, conflict, forbidden, notFound } from '@svc/service-kit/service-error.ts';
import type { TrustService } from '../trust/trust-service.ts';
import { matchAnswer } from './match-answer.ts';
import type { KeptAsk, OpenAsks } from './open-asks.ts';

export type AnswerDeps = { asks: OpenAsks; trust: Pick<TrustService, 'resolve'> };

/**
 * Takes an answer from the person who was asked, or from one who is SACRED in that conversation. The first answer counts.
 * @throws ServiceError `not_found`, `conflict` for a closed question, `forbidden`, `bad_request` for an answer that is not one of its
 * options.
 */
export async function answerAsk({ asks, trust }: AnswerDeps, askId: string, request: AnswerRequest): Promise<Answered> {
  const { as, conversation_key } = request;
  const ask = find(asks, askId, conversation_key);
  const identity = await resolveSpeaker(trust, as, { conversation_key, public: as.public === true || ask.public });
  if (!mayAnswer(ask, identity)) throw forbidden('This question is for another person.');
  const option = optionOf(ask, request);
  if (asks.answer(ask.id, conversation_key, option.id) !== 'taken') throw isOver();
  return { ask_id: ask.id, option: option.id, label: option.label };
}

export const mayAnswer = (ask: KeptAsk, { denied, principal_id, trust_tier }: Identity): boolean =>
  !denied && principal_id !== null && (principal_id === ask.for || trust_tier === 'SACRED');

/** A question is unknown outside its own conversation. */
function find(asks: OpenAsks, id: string, key: string): KeptAsk {
  const ask = asks.find(id);
  if (ask?.conversation_key === key) return ask;
  if (asks.isOver(id, key)) throw isOver();
  throw notFound('open question', id);
}

function optionOf({ options }: KeptAsk, { option, text }: AnswerRequest): AskOption {
  const meant = option === undefined ? matchAnswer(options, text) : options.find(({ id }) => id === option);
  if (meant) return meant;
  throw badRequest(`This is not one of the answers. They are: ${options.map(({ id, label }) => `${id} (${label})`).join(', ')}.`);
}

const isOver = () => conflict('This question is over: it was already answered, or its turn has ended.');
