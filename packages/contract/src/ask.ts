import { conversationKeySchema, channelPattern } from './envelope.ts';
import type { Envelope } from './envelope.ts';

/** One answer that can be chosen. `style`: how a button of it may look. */
export type AskOption = { id: string; label: string; style?: 'primary' | 'danger' };

/** A question of an engine to one person, in the middle of a turn. */
export type Ask = {
  id: string;
  text: string;
  /** At least one. Their ids and labels differ. */
  options: AskOption[];
  /** The id of the principal who may answer; every SACRED one may, too. */
  for: string;
  /** Epoch ms. From then on it is denied. */
  expires_at: number;
};

/**
 * How a question was closed: `answered`, or denied because of one of these. `expired`: there was no answer in time. `ended`: its turn
 * or the call that asked has ended. `unseen`: no connected channel can show a question. `refused`: it is invalid, or there are
 * too many. `failed`: it could not be stored.
 */
export const askOutcomes = ['answered', 'expired', 'ended', 'unseen', 'refused', 'failed'] as const;
export type AskOutcome = (typeof askOutcomes)[number];

/** The result of a question: the id of the chosen option, null when it is denied. */
export type AskAnswer = { option: string; outcome: 'answered' } | { option: null; outcome: Exclude<AskOutcome, 'answered'> };

/** An open question, as `GET /v2/asks` lists it. */
export type OpenAsk = Ask & { conversation_key: string; turn_id: string; asked_at: number };

/** Who answers. */
export type Answerer = Pick<Envelope, 'channel' | 'public'> & { sender: Pick<Envelope['sender'], 'raw_id'> };

/** An answer: an option's id, or what a person wrote: its number, its id or its label. */
export type AnswerRequest = {
  as: Answerer;
  conversation_key: string;
} & ({ option: string; text?: undefined } | { text: string; option?: undefined });

/** What an answer has chosen. */
export type Answered = { ask_id: string; option: string; label: string };

const choice = { type: 'string', minLength: 1, maxLength: 200 } as const;

const answerFields = {
  as: {
    type: 'object',
    required: ['channel', 'sender'],
    properties: {
      channel: { type: 'string', pattern: channelPattern },
      sender: { type: 'object', required: ['raw_id'], properties: { raw_id: { type: 'string', minLength: 1, maxLength: 256 } } },
      public: { type: 'boolean' },
    },
  },
  conversation_key: conversationKeySchema,
  option: choice,
  text: choice,
} as const;

export const answerSchema = {
  type: 'object',
  required: ['as', 'conversation_key'],
  properties: answerFields,
  oneOf: [{ required: ['option'] }, { required: ['text'] }],
} as const;
